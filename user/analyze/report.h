/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a report says, before any format: the sites ranked and named, the totals, what was lost.
 * Made from a snapshot by pure functions.
 */
#ifndef ANALYZE_REPORT_H
#define ANALYZE_REPORT_H

#include <stdbool.h>

#include "model/snapshot.h"
#include "model/symbols.h"

enum report_sort {
	SORT_INUSE,
	SORT_INUSE_OBJECTS,
	SORT_ALLOC,
	SORT_ALLOC_OBJECTS,
};

struct report_options {
	enum report_sort sort;
	size_t top; /* sites shown; 0 = all */
	uint64_t min_age_ns; /* in use counts only blocks at least this old; 0 = all */
};

/* How a report gets its names: symbolizer_lookup in the program, a table in a test. */
struct report_names {
	const struct symbol_list *(*lookup)(void *context, const struct frame *frame);
	void *context;
};

struct report_frame {
	enum frame_kind kind;
	const char *function; /* NULL = unknown */
	const char *module; /* path; NULL = none */
	char *build_id; /* hexadecimal, owned; NULL = none */
	uint64_t offset;
	const char *file; /* NULL = unknown */
	uint32_t line; /* 0 = unknown */
	bool inlined;
};

struct report_site {
	size_t rank; /* from 1 */
	int pid;
	enum memory_source source;
	const char *allocator, *function;
	struct counters counters;
	uint64_t oldest_ns, mean_age_ns; /* 0 when nothing is in use */
	struct report_frame *frames; /* innermost first */
	size_t frame_count;
};

struct report {
	int64_t wall_time;
	uint64_t duration_ns;
	const struct target *const *targets;
	size_t target_count;
	struct counters totals; /* of all sites, shown or not */
	size_t sites_in_use; /* sites that hold at least one byte or block */
	size_t site_count; /* shown */
	struct report_site *sites;
	uint64_t loss[LOSS_COUNT];
	uint64_t min_age_ns;
};

/*
 * Rank the sites of `snapshot` and name the frames of the shown ones. Ties are broken by key, so equal
 * snapshots give equal reports. Sites without any allocation are left out; with the in-use sort keys the
 * sites shown are those that hold something. With min_age_ns, blocks that are too young count neither as
 * allocated nor as in use, so that alloc - free = in use still holds. Free with report_free; the snapshot,
 * its targets and the names must outlive the report.
 */
struct report *report_build(const struct snapshot *snapshot, const struct report_options *options,
			    const struct report_names *names);
void report_free(struct report *report);

const char *source_name(enum memory_source source); /* "heap", "mmap" */
const char *frame_kind_name(enum frame_kind kind); /* "native", "ruby", ... */
const char *loss_name(enum loss loss); /* "free_untracked" */
const char *loss_sentence(enum loss loss);
bool loss_is_defect(enum loss loss); /* does it make a figure of the report short? */

#endif
