/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The results of tracing in windows (--budget), passed from the session to the code that estimates
 * and prints. Plain data without estimates; owns all that it points to. Sites refer to those of the
 * accompanying snapshot, by key.
 *
 * During a window, a short time, calls are traced. The blocks that it has recorded and that are in
 * use at its end enter the cohort. From then on they are examined periodically, from outside, until
 * they are found freed.
 */
#ifndef MODEL_BUDGET_REPORT_H
#define MODEL_BUDGET_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Age classes by their least age in seconds, each twice the one before, as survival curves are
 * judged. X(seconds)
 */
#define BUDGET_AGE_LIST(X) \
	X(0)               \
	X(1) X(2) X(4) X(8) X(16) X(32) X(64) X(128) X(256) X(512) X(1024) X(2048) X(4096) X(8192)

enum budget_ages {
#define X(seconds) BUDGET_AGE_##seconds,
	BUDGET_AGE_LIST(X)
#undef X
		BUDGET_AGES,
};

/*
 * Blocks. A cohort that is too large is thinned by a hash of addresses; each block `seen`
 * represents several.
 */
struct budget_blocks {
	uint64_t seen;
	/* Represented by those seen; bytes as the census counts them, if known */
	uint64_t blocks, bytes;
};

/*
 * One age class of the cohort: a row of a life table. A block that reaches the class is later found
 * freed in it, or lost, or has this age now, or reaches the next class. Weights are the present
 * ones, so sums over classes may differ slightly.
 */
struct budget_age {
	struct budget_blocks reached; /* reached this age; class 0: entered the cohort */
	/* Found freed, or their address was reused. The time is known to the precision of looks. */
	struct budget_blocks freed;
	/* Could not be followed further: their end is unknown. */
	struct budget_blocks lost;
	/* Of this age now, and in use as far as the allocator shows: */
	struct budget_blocks unchanged; /* contents unchanged since birth */
	/* Contents changed: still in use, or freed and replaced by another block. */
	struct budget_blocks written;
	/*
	 * Sum of the ages of `unchanged`, weighted by blocks represented, in units of 65 us (>>
	 * 16).
	 */
	uint64_t age_ns_sum;
	/*
	 * Of `unchanged`: the sum over windows of the squared number recorded and seen. Shows
	 * whether the site allocates in bursts.
	 */
	uint64_t window_squares;
};

/* The cohort of a site in one size class (budget_size_class). */
struct budget_cohort {
	uint32_t size_class;
	struct budget_age ages[BUDGET_AGES];
};

struct budget_site {
	uint64_t key; /* snapshot_site.key */
	uint32_t target_id; /* target.target_id; selects the budget_heap with the size classes */
	/* Totals over all windows: exact. */
	uint64_t allocated_blocks, allocated_bytes; /* requested bytes */
	uint64_t freed_blocks; /* those of them freed within their window: exact */
	/* CLOCK_MONOTONIC: first and last window in which it allocated */
	uint64_t first_ns, last_ns;
	struct budget_cohort *cohorts; /* by size_class, ascending; owned */
	size_t cohort_count, cohort_capacity;
};

struct budget_window {
	uint64_t start_ns; /* CLOCK_MONOTONIC: start of recording */
	uint64_t length_ns; /* duration of recording */
	uint64_t probed_ns; /* time for which probes were attached; longer than length_ns */
	uint64_t hits; /* traps, from the first attach to the last detach */
	/* The part of `hits` while attaching and while detaching: nothing was recorded. */
	uint64_t attach_hits, detach_hits;
	uint64_t attach_ns, detach_ns; /* duration of attaching and detaching */
	uint64_t cost_ns; /* CPU time of the targets that the hits took */
	uint64_t busiest_ns; /* the largest part of it in a single thread */
	uint64_t recorded; /* blocks allocated */
	uint64_t entered; /* blocks that entered the cohort, after thinning */
	uint64_t weight; /* number of blocks that each of these represents */
	bool cut; /* ended early: its share was used up */
	bool lost; /* some probes could not be attached: nothing was recorded */
};

/* Cumulative length of windows at the end of one of them. */
struct budget_mark {
	uint64_t start_ns; /* CLOCK_MONOTONIC: start of that window */
	uint64_t traced_ns; /* total length of all windows up to it */
	uint64_t windows; /* number of these windows */
};

/* Live blocks of one size class, at each of the heap's censuses. */
struct budget_size {
	uint32_t size_class;
	/* Arrays of budget_heap.census_count; bytes are usable bytes; owned. */
	uint64_t *blocks, *bytes;
};

struct budget_census {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t live_blocks, live_bytes;
	uint64_t unknown_bytes; /* bytes not understood: the error of the other figures */
};

/* The heap of a process, counted from outside: exact, including blocks older than tracing. */
struct budget_heap {
	uint32_t target_id;
	const char *allocator; /* "glibc"; static; NULL = no census */
	/* Why blocks cannot be counted, or not by address: a sentence; NULL = they can; owned */
	char *reason;
	/* Oldest first; the first one is always kept, other old ones are thinned; owned. */
	struct budget_census *censuses;
	size_t census_count;
	struct budget_size *sizes; /* by size_class, ascending; owned */
	size_t size_count;
	uint64_t cpu_ns; /* CPU time of the process since tracing began */
};

struct budget_report {
	uint64_t budget; /* thousandths of a percent of the targets' CPU time */
	uint64_t max_window_ns; /* limit of a window, in time of a single thread */
	uint64_t start_ns, time_ns; /* CLOCK_MONOTONIC: start of tracing, and now */
	/* Totals over all windows. */
	uint64_t window_count, hits, recorded;
	uint64_t lost_count; /* windows in which some probes were missing: nothing was recorded */
	uint64_t edge_hits; /* the part of `hits` while attaching and detaching */
	uint64_t traced_ns; /* total length of windows */
	uint64_t cpu_ns; /* CPU time of the targets since start_ns */
	uint64_t cost_ns; /* the part of it that tracing took */
	uint64_t busiest_ns; /* the largest cost per window in a single thread, summed */
	uint64_t over_count; /* windows that exceeded max_window_ns in some thread */
	uint64_t longest_ns; /* the most that a window took in a single thread */
	bool cost_unknown; /* the cost of a trap could not be measured: a high one is assumed */
	uint64_t hit_ns; /* average cost of a hit on this host */
	/* Least number of blocks that a block entering the cohort now represents */
	uint64_t weight;
	struct budget_window *windows; /* the latest ones, oldest first; owned */
	size_t window_rows;
	/* For the whole trace, oldest first, older ones thinned; owned. */
	struct budget_mark *marks;
	size_t mark_count;
	struct budget_site *sites; /* in no order; owned */
	size_t site_count, site_capacity;
	/*
	 * Running processes that can be examined, those of them not examined yet, and the limit per
	 * pass.
	 */
	size_t processes, processes_unseen, pass_most;
	uint64_t oldest_look_ns; /* age, before time_ns, of the oldest last look */
	struct budget_heap *heaps; /* owned */
	size_t heap_count, heap_capacity;
};

/* Zeroed. Free with budget_report_free, which accepts NULL. */
struct budget_report *budget_report_new(void);
void budget_report_free(struct budget_report *report);
/* Append a zeroed item; valid until the next call. */
struct budget_site *budget_report_add_site(struct budget_report *report);
struct budget_heap *budget_report_add_heap(struct budget_report *report);
/* The site's cohort of a size class; created if missing. Valid until the next one is created. */
struct budget_cohort *budget_site_cohort(struct budget_site *site, uint32_t size_class);

/*
 * The class of `size` bytes, and the least size of a class: steps of 16 bytes up to 1024, which
 * separates the classes of allocators, then of an eighth.
 */
#define BUDGET_SIZE_CLASSES 512
uint32_t budget_size_class(uint64_t size);
uint64_t budget_size_least(uint32_t size_class);

/* The class of an age, and the least age of a class. */
enum budget_ages budget_age_class(uint64_t age_ns);
uint64_t budget_age_least_ns(enum budget_ages age);

#endif
