/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The content of a report, before any format: the sites ranked and named, the totals, what was lost.
 * Made from a snapshot by pure functions.
 */
#ifndef ANALYZE_REPORT_H
#define ANALYZE_REPORT_H

#include <stdbool.h>

#include "analyze/budget_estimate.h"
#include "analyze/course.h"
#include "analyze/growth.h"
#include "analyze/judge.h"
#include "analyze/memory_growth.h"
#include "analyze/peak.h"
#include "analyze/settled.h"
#include "analyze/verdict.h"
#include "model/report_frame.h"
#include "model/snapshot.h"
#include "model/symbols.h"
#include "model/timeline.h"

enum report_sort {
	SORT_INUSE,
	SORT_INUSE_OBJECTS,
	SORT_ALLOC,
	SORT_ALLOC_OBJECTS,
	SORT_AGE, /* of the oldest block in use */
	SORT_GROWTH, /* since the last report; in the first one, what is in use */
	SORT_CHURN, /* bytes that were allocated and freed again */
	SORT_TEMPORARY, /* blocks that were freed by the next call of the thread that had made them */
	SORT_LEAK, /* by verdicts: leaks first, then what grows, the fastest of each first */
	SORT_AUTO, /* SORT_LEAK once a row is a leak or grows, SORT_INUSE until then */
};

struct report_options {
	enum report_sort sort;
	size_t top; /* sites shown; 0 = all */
	/* Young blocks do not count as in use: those that the snapshot has counted so, by the limits below. */
	bool without_young;
	/* To be named: the least age of a block, and how many major garbage collections it has outlived; 0 = any. */
	uint64_t min_age_ns, survived;
	bool lines; /* find each site's line of the application, what allocated for it, and a stack for rows by line */
	bool internal; /* keep frames of interpreters' own functions, and a stack for each line */
	bool is_lost; /* what is in use is what is lost, and called so */
	/* Of what is lost: for how long allocations were traced before; 0 = they were not. */
	uint64_t lost_traced_ns;
	/* What sites held at the last report; NULL = there was none. */
	const struct growth_base *base;
	bool only_held; /* with `top` 0, too, sites that hold nothing are left out where what is in use ranks them */
	struct judge *judge; /* of the snapshot; NULL = hide nothing, and find no leaves */
	/* That the snapshot's figures were replaced by; NULL = these were counted. Must outlive the report. */
	const struct budget_estimates *estimates;
	const struct light_report *light; /* NULL = frees were seen */
	/* What sites held before; NULL = there are no verdicts but those of `estimates`. Must outlive the report. */
	const struct history *history;
	/* Of a watch: the words that rows have settled on, which take the place of those of now; NULL = none. Must outlive the report. */
	struct settled *settled;
	/* Of a watch: the memory of the process over time; NULL = not known. Must outlive the report. */
	const struct course *course;
	/* For charts, of a recording; NULL = there is only that history. Must outlive the report. */
	const struct timeline *timeline;
};

/* What allocated for a row by line. */
struct report_leaf {
	struct report_frame frame;
	uint64_t inuse_bytes, inuse_objects;
	uint64_t weight; /* by which they are ranked, as sites are */
};

/* None is known. */
#define REPORT_NO_LINE SIZE_MAX

/* So many leaves are kept of a row. */
#define REPORT_LEAVES_MAX 16

struct report_site {
	size_t rank; /* from 1 */
	const struct snapshot_site *origin;
	int pid;
	const struct target *target;
	enum memory_source source;
	const char *allocator, *function; /* NULL = several */
	bool ended; /* its program has ended: in no total */
	bool sampled; /* its figures are an estimate */
	struct site_stats stats; /* its oldest_ns is 0 when no block is in use */
	struct growth growth;
	struct budget_estimate estimate; /* with options.estimates */
	struct verdict verdict; /* with options.history or options.estimates */
	size_t process_count; /* processes that are added up in it */
	size_t of_processes; /* of a line: processes of its program that run, or are added up */
	size_t of_workers; /* where there are several, and none of their masters is in the row: so many of these are workers; or 0 */
	bool by_line; /* `frames` is a line of the application */
	enum region region; /* what its blocks are for */
	bool resident_known; /* it is of mappings, and stats.resident_bytes is what of them is present */
	size_t stack_count; /* of a line or region: how many stacks are added up */
	/* Of a region that is a runtime's heap: classes of which there are more objects since the attach. Not owned; NULL = not known. For
	 * the caller of report_build to fill in. */
	const struct grown_classes *grown_classes;
	/* What follows is made by report_open_site. */
	struct report_frame *frames; /* innermost first */
	size_t frame_count;
	/* The application's line: an index in `stack` where there is one, or else in `frames`. */
	size_t line;
	size_t frames_hidden; /* frames that were to be hidden, all functions of them */
	/* What allocated for the line, but for itself; greatest first. */
	struct report_leaf *leaves;
	size_t leaf_count;
	size_t leaves_more; /* that there are beyond */
	struct report_frame *stack; /* of a line, if asked for: that of its greatest site */
	size_t stack_length;
	/* What its blocks are part of, of those that realloc grew most if there are any: "a Ruby Array"; NULL = unknown. */
	const char *container;
	/* If code without a name comes before the first line: what may have the name; not owned. NULL = nothing is known. */
	const char *hint;
};

struct report {
	int64_t wall_time;
	uint64_t duration_ns;
	const struct target *const *targets; /* the snapshot's */
	size_t target_count;
	/* Of the targets, in their order; with what ended programs held. */
	struct site_stats *target_totals;
	struct site_stats totals; /* of all sites, listed or not, but of ended programs' */
	struct site_stats ended; /* of ended programs' sites */
	struct site_stats sampled; /* what of `totals` is an estimate */
	bool *target_sampled; /* is some of a target's totals an estimate? In their order */
	bool ended_sampled; /* is some of `ended`? */
	struct site_stats recorded; /* of all sites, with the young blocks that are left out */
	struct site_stats estimated; /* what of `recorded` is an estimate */
	struct growth growth; /* of `totals` */
	struct peak peak; /* of `totals` */
	struct verdict verdict; /* of all sites but those of samples and ended programs */
	size_t leaks; /* rows that are leaks, listed or not */
	size_t sites_in_use; /* rows that hold at least one byte or block */
	struct site_stats left_out; /* what of `totals` is of sites that --only leaves out */
	size_t sites_left_out; /* of these, that hold something */
	size_t site_count; /* listed */
	/* Without frames: those of all may be more than there is memory for. */
	struct report_site *sites;
	uint64_t loss[LOSS_COUNT];
	struct price price;
	/* Of the process's memory, what is free in malloc; 0 = nothing, or not looked at. For the caller of report_build to fill in. */
	uint64_t malloc_free_bytes;
	const struct module_list *modules; /* the snapshot's */
	uint64_t start_ns; /* when tracing began, by the clock of births */
	struct report_options options;
	struct report_names names;
};

/*
 * Rank the sites of `snapshot`, and ask for the names of the frames of the listed ones. Ties are broken by key, so equal
 * snapshots give equal reports. With without_young, blocks that are too young count neither as allocated nor
 * as in use, so that alloc - free = in use still holds. Counters that contradict themselves (a damaged
 * recording) are bent until it does.
 *
 * Listed are: no site without an allocation; with the in-use sort keys only sites that hold something,
 * unless `top` is 0, which asks for everything without only_held; no site that is left out; and no more than `top`. Totals are of all sites.
 *
 * Free with report_free; the snapshot, the judge and the names must outlive the report.
 */
struct report *report_build(const struct snapshot *snapshot, const struct report_options *options,
			    const struct report_names *names);
void report_free(struct report *report);

/* A listed site with its frames. Close with report_close_site. */
struct report_site report_open_site(const struct report *report, size_t index);
void report_close_site(struct report_site *site);

/* Does `sort` rank by what is in use? */
bool report_sort_is_inuse(enum report_sort sort);

/*
 * Calls of allocator functions that the probes saw, by what became of them: recorded, a free of an unknown
 * block, or dropped (LOSS_KIND_CALL). A realloc that moves a block counts as two. Blocks that
 * samples represent were not seen.
 */
uint64_t report_calls_seen(const struct report *report);
uint64_t report_calls_dropped(const struct report *report);

#endif
