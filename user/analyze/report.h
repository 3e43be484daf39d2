/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The content of a report, independent of format: ranked and named sites, totals, losses. Made from
 * a snapshot by pure functions.
 */
#ifndef ANALYZE_REPORT_H
#define ANALYZE_REPORT_H

#include <stdbool.h>

#include "verdict/budget_estimate.h"
#include "verdict/course.h"
#include "verdict/growth.h"
#include "analyze/judge.h"
#include "verdict/memory_growth.h"
#include "verdict/peak.h"
#include "verdict/settled.h"
#include "verdict/verdict.h"
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
	SORT_GROWTH, /* growth since the last report; in the first one, in use */
	SORT_CHURN, /* bytes allocated and freed again */
	SORT_TEMPORARY, /* blocks freed by the next allocator call of their thread */
	SORT_LEAK, /* by verdict: leaks, then growing sites, each by growth */
	/*
	 * SORT_LEAK once a row is a leak, or grows and has more in use than any that is unclear;
	 * SORT_INUSE until then
	 */
	SORT_AUTO,
};

struct report_options {
	enum report_sort sort;
	size_t top; /* sites shown; 0 = all */
	/* Do not count young blocks, by the limits below, as in use. */
	bool without_young;
	/*
	 * The limits: least age of a block, and number of major garbage collections survived; 0 =
	 * any.
	 */
	uint64_t min_age_ns, survived;
	bool lines; /* find each site's application line and its leaves; stacks for rows by line */
	bool internal; /* keep interpreters' own frames, and a stack for each line */
	bool is_lost; /* the in-use figures are lost blocks, and named so */
	/* With is_lost: how long allocations were traced before; 0 = not traced. */
	uint64_t lost_traced_ns;
	/* What sites held at the last report; NULL = no earlier report. */
	const struct growth_base *base;
	/* Also with `top` 0, omit sites that hold nothing when sorted by memory in use */
	bool only_held;
	struct judge *judge; /* for the snapshot; NULL = hide nothing, find no leaves */
	/*
	 * Estimates that have replaced the snapshot's figures; NULL = figures are counted. Must
	 * outlive the report.
	 */
	const struct budget_estimates *estimates;
	const struct light_report *light; /* NULL = frees were seen */
	/*
	 * What sites held before; NULL = no verdicts but those of `estimates`. Must outlive the
	 * report.
	 */
	const struct history *history;
	/*
	 * Watch: settled words of rows, which replace the momentary ones; NULL = none. Must outlive
	 * the report.
	 */
	struct settled *settled;
	/* Watch: memory of the process over time; NULL = unknown. Must outlive the report. */
	const struct course *course;
	/* Charts of a recording; NULL = use `history`. Must outlive the report. */
	const struct timeline *timeline;
};

/* A function that allocated for a row by line. */
struct report_leaf {
	struct report_frame frame;
	uint64_t inuse_bytes, inuse_objects;
	uint64_t weight; /* rank, as for sites */
};

/* None is known. */
#define REPORT_NO_LINE SIZE_MAX

/* Limit of leaves per row. */
#define REPORT_LEAVES_MAX 16

struct report_site {
	size_t rank; /* from 1 */
	const struct snapshot_site *origin;
	int pid;
	const struct target *target;
	enum memory_source source;
	const char *allocator, *function; /* NULL = several */
	bool ended; /* its program has ended: not part of totals */
	bool sampled; /* its figures are an estimate */
	struct site_stats stats; /* oldest_ns is 0 if no block is in use */
	struct growth growth;
	struct budget_estimate estimate; /* with options.estimates */
	struct verdict verdict; /* with options.history or options.estimates */
	size_t process_count; /* processes merged into it */
	size_t of_processes; /* for a line: processes of its program, running or merged */
	/* Number of workers among them, if the row includes none of their masters; or 0 */
	size_t of_workers;
	bool by_line; /* `frames` is a line of the application */
	enum region region; /* purpose of its blocks */
	bool resident_known; /* it consists of mappings; stats.resident_bytes is what is present */
	size_t stack_count; /* for a line or region: number of merged stacks */
	/*
	 * For a region that is a runtime's heap: classes with more objects since the attach. Not
	 * owned; NULL = unknown. Filled in by the caller of report_build.
	 */
	const struct grown_classes *grown_classes;
	/* The following fields are set by report_open_site. */
	struct report_frame *frames; /* innermost first */
	size_t frame_count;
	/* The application's line: an index in `stack` if there is one, else in `frames`. */
	size_t line;
	size_t frames_hidden; /* frames hidden with all their functions */
	/* Functions that allocated for the line, other than itself; greatest first. */
	struct report_leaf *leaves;
	size_t leaf_count;
	size_t leaves_more; /* number of further leaves */
	struct report_frame *stack; /* for a line, if requested: stack of its greatest site */
	size_t stack_length;
	/*
	 * The container that all its blocks are of: "a Ruby Array"; NULL = several, or unknown.
	 */
	const char *container;
	/*
	 * If unnamed code precedes the first line: what may provide the name; not owned. NULL =
	 * unknown.
	 */
	const char *hint;
};

struct report {
	int64_t wall_time;
	uint64_t duration_ns;
	const struct target *const *targets; /* the snapshot's */
	size_t target_count;
	/* By target; includes ended programs. */
	struct site_stats *target_totals;
	struct site_stats totals; /* of all sites, listed or not, except ended programs */
	struct site_stats ended; /* of sites of ended programs */
	struct site_stats sampled; /* estimated part of `totals` */
	bool *target_sampled; /* by target: does its total include estimates? */
	bool ended_sampled; /* does `ended` include estimates? */
	struct site_stats recorded; /* of all sites, including young blocks */
	struct site_stats estimated; /* estimated part of `recorded` */
	struct growth growth; /* growth and peak of `totals` */
	struct peak peak; /* growth and peak of `totals` */
	struct verdict verdict; /* of all sites except samples and ended programs */
	size_t leaks; /* leaking rows, listed or not */
	size_t judged; /* rows that have a verdict, leaks among them, */
	size_t unjudged; /* and rows that have allocated, but have none, or an unknown one */
	size_t sites_in_use; /* rows that hold at least one byte or block */
	struct site_stats left_out; /* part of `totals` that --only leaves out */
	size_t sites_left_out; /* number of these sites that hold something */
	size_t site_count; /* listed */
	/* Without frames, which could exceed memory for all sites. */
	struct report_site *sites;
	uint64_t loss[LOSS_COUNT];
	struct price price;
	/* Free memory in malloc; 0 = none, or unknown. Filled in by the caller of report_build. */
	uint64_t malloc_free_bytes;
	const struct module_list *modules; /* the snapshot's */
	uint64_t start_ns; /* start of tracing, by the clock of births */
	struct report_options options;
	struct report_names names;
};

/*
 * Rank the sites of `snapshot`, and request names for the frames of the listed ones. Ties are
 * broken by key, so equal snapshots give equal reports. With without_young, young blocks count
 * neither as allocated nor as in use, so that alloc - free = in use holds. Contradictory counters
 * (a damaged recording) are adjusted until it does.
 *
 * Never listed: sites without an allocation; with the in-use sort keys, sites that hold nothing,
 * unless `top` is 0 without only_held; sites that --only leaves out; and more than `top` sites,
 * beside which a watch lists the site that holds most.
 * Totals include all sites.
 *
 * Free with report_free; the snapshot, the judge and the names must outlive the report.
 */
struct report *report_build(const struct snapshot *snapshot, const struct report_options *options,
			    const struct report_names *names);
void report_free(struct report *report);

/* A listed site with its frames. Close with report_close_site. */
struct report_site report_open_site(const struct report *report, size_t index);
void report_close_site(struct report_site *site);

/* Does `sort` rank by memory in use? */
bool report_sort_is_inuse(enum report_sort sort);

/*
 * Allocator calls that the probes saw: those recorded, frees of unknown blocks, and those dropped
 * (LOSS_KIND_CALL). A realloc that moves a block counts twice. Blocks represented by samples were
 * not seen.
 */
uint64_t report_calls_seen(const struct report *report);
uint64_t report_calls_dropped(const struct report *report);

#endif
