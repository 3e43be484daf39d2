/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each site held at all moments that are known, for charts: of a recording at each interval, or of a run as its history has it. Kept
 * are changes only. Pure.
 */
#ifndef MODEL_TIMELINE_H
#define MODEL_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"
#include "base/table.h"
#include "model/snapshot.h"

/* So many changes of sites are kept; later ones are in the totals only. */
#define TIMELINE_CHANGES_MAX (1 << 22)

struct timeline_moment {
	uint64_t time_ns; /* since tracing began */
	uint64_t bytes; /* in use, of all sites but those of ended programs */
};

struct timeline_mark {
	const char *name; /* of timeline's strings */
	size_t moment;
};

/* {0} = of no moment. Free with timeline_free. */
struct timeline {
	struct timeline_moment *moments;
	size_t count, capacity;
	struct timeline_mark *marks;
	size_t mark_count, mark_capacity;
	struct strings strings;
	struct table sites; /* by key: struct timeline_site, owned */
	uint64_t bytes; /* of the last moment */
	size_t changes;
	bool is_full; /* some changes, or sites, found no room */
};

/* Begin a moment, at which sites hold what they held before until they are set. */
void timeline_begin(struct timeline *timeline, uint64_t time_ns);
/* What a site holds at the last moment that has begun; one of a program that has `ended` is in no total, and may have another one's key. */
void timeline_set(struct timeline *timeline, uint64_t key, uint64_t bytes, bool ended);
/* All sites were set that hold anything: others hold nothing from the last moment on. */
void timeline_end_whole(struct timeline *timeline);
/* Name a moment; `name` is copied. */
void timeline_mark(struct timeline *timeline, size_t moment, const char *name);

/* What the sites of a row held at each moment: `count` numbers. False, with them undefined, if that of some site is not known. */
bool timeline_add_row(const struct timeline *timeline, const struct snapshot_site *row,
		      uint64_t *ret_bytes);

/* The same at one moment. */
bool timeline_row_at(const struct timeline *timeline, const struct snapshot_site *row,
		     size_t moment, uint64_t *ret_bytes);

void timeline_free(struct timeline *timeline);

#endif
