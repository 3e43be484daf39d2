/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each site held at all known moments, for charts: the intervals of a recording, or the
 * history of a run. Stores changes only. Pure.
 */
#ifndef MODEL_TIMELINE_H
#define MODEL_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"
#include "base/table.h"
#include "model/snapshot.h"

/* Limit of stored changes; later ones only affect the totals. */
#define TIMELINE_CHANGES_MAX (1 << 22)

struct timeline_moment {
	uint64_t time_ns; /* since tracing began */
	uint64_t bytes; /* in use in all sites, except ended programs */
};

struct timeline_mark {
	const char *name; /* in the timeline's strings */
	size_t moment;
};

/* {0} is empty. Free with timeline_free. */
struct timeline {
	struct timeline_moment *moments;
	size_t count, capacity;
	struct timeline_mark *marks;
	size_t mark_count, mark_capacity;
	struct strings strings;
	struct table sites; /* by key: struct timeline_site, owned */
	uint64_t bytes; /* at the last moment */
	size_t changes;
	bool is_full; /* some changes or sites were dropped */
};

/* Begin a moment; sites hold what they held before until they are set. */
void timeline_begin(struct timeline *timeline, uint64_t time_ns);
/*
 * Set what a site holds at the moment begun last. A site of an `ended` program is in no total, and
 * may share another's key.
 */
void timeline_set(struct timeline *timeline, uint64_t key, uint64_t bytes, bool ended);
/* All sites that hold anything were set: the others hold nothing from this moment on. */
void timeline_end_whole(struct timeline *timeline);
/* Name a moment; `name` is copied. */
void timeline_mark(struct timeline *timeline, size_t moment, const char *name);

/*
 * Bytes that the sites of a row held at each of `count` moments. False, with undefined results, if
 * unknown for some site.
 */
bool timeline_add_row(const struct timeline *timeline, const struct snapshot_site *row,
		      uint64_t *ret_bytes);

/* The same at one moment. */
bool timeline_row_at(const struct timeline *timeline, const struct snapshot_site *row,
		     size_t moment, uint64_t *ret_bytes);

void timeline_free(struct timeline *timeline);

#endif
