/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tracing in windows (--budget) has yielded: between the session, which records, and those that estimate and print. Plain
 * data without an estimate in it, which owns all that it points to. Sites are those of the snapshot that it comes with, by key.
 *
 * A window is a short time in which calls are traced. The blocks that it has recorded, and that are in use at its end, enter the
 * cohort. From then on they are looked at from outside, now and again, until they are found freed.
 */
#ifndef MODEL_BUDGET_REPORT_H
#define MODEL_BUDGET_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Classes of ages, by the least age in seconds: each is twice the one before, as survival curves are judged. X(seconds) */
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
 * Blocks. Of a cohort that is too large only some are kept, selected by a hash of their addresses: each that was `seen` represents
 * as many as it was one of.
 */
struct budget_blocks {
	uint64_t seen;
	uint64_t blocks, bytes; /* that they represent; bytes as the census counts them, if known */
};

/*
 * One age class of the cohort: a row of a life table. A block that reaches the class is later found freed in it, or lost, or is
 * of this age now, or reaches the next class. Weights are those of now, so sums of classes may differ a little.
 */
struct budget_age {
	struct budget_blocks reached; /* came to this age; of class 0: entered the cohort */
	/* Found freed, or their address was given to another block. When is known to the look at them. */
	struct budget_blocks freed;
	/* could not be followed further: nothing is known of their end */
	struct budget_blocks lost;
	/* Of this age now, by all that the allocator shows in use: */
	struct budget_blocks unchanged; /* with the contents of their birth */
	/* with others: still in use, or freed and another block by now */
	struct budget_blocks written;
	/* of `unchanged`, each as often as it represents blocks, in 65 us (>> 16) */
	uint64_t age_ns_sum;
	/* Of `unchanged`: how many each window has recorded that were seen, squared, and added up. It shows whether they come in bursts. */
	uint64_t window_squares;
};

/* The cohort of a site, of one size class (budget_size_class). */
struct budget_cohort {
	uint32_t size_class;
	struct budget_age ages[BUDGET_AGES];
};

struct budget_site {
	uint64_t key; /* snapshot_site.key */
	uint32_t target_id; /* target.target_id; whose budget_heap has the classes */
	/* What was recorded in all windows, each block counted: exact. */
	uint64_t allocated_blocks, allocated_bytes; /* bytes as asked for */
	uint64_t freed_blocks; /* of these, within their window: exact, too */
	/* CLOCK_MONOTONIC: windows in which it allocated first and last */
	uint64_t first_ns, last_ns;
	struct budget_cohort *cohorts; /* by size_class, ascending; owned */
	size_t cohort_count, cohort_capacity;
};

struct budget_window {
	uint64_t start_ns; /* CLOCK_MONOTONIC: from here on allocations were recorded */
	uint64_t length_ns; /* for so long */
	uint64_t probed_ns; /* so long probes were in the targets: longer than that */
	uint64_t hits; /* traps, from the first probe to the last */
	/* Of these, while probes were attached, and after the window until they were out: nothing was recorded. */
	uint64_t attach_hits, detach_hits;
	uint64_t attach_ns, detach_ns; /* how long that took */
	uint64_t cost_ns; /* CPU time of the targets that these took */
	uint64_t busiest_ns; /* the part of that which one thread had, at most */
	uint64_t recorded; /* blocks allocated */
	uint64_t entered; /* blocks that entered the cohort, after thinning */
	uint64_t weight; /* that each of these represents */
	bool cut; /* it ended early, since it had used its share */
	bool lost; /* not all probes could be attached: nothing was recorded */
};

/* How long windows were until one of them ended. */
struct budget_mark {
	uint64_t start_ns; /* CLOCK_MONOTONIC: when that one began */
	uint64_t traced_ns; /* the sum of the lengths of all up to it */
	uint64_t windows; /* so many */
};

/* Live blocks of one size class, at each of the heap's censuses. */
struct budget_size {
	uint32_t size_class;
	/* budget_heap.census_count of each; bytes that the program may use; owned */
	uint64_t *blocks, *bytes;
};

struct budget_census {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t live_blocks, live_bytes;
	uint64_t unknown_bytes; /* that were not understood: the error of the other figures */
};

/* The heap of a process, counted from outside: exact, and with what is older than tracing. */
struct budget_heap {
	uint32_t target_id;
	const char *allocator; /* "glibc"; static; NULL = there is no census */
	char *reason; /* why blocks are not counted, or not by address: a sentence; NULL = they are; owned */
	/* the oldest first: the very first, and fewer of the older ones; owned */
	struct budget_census *censuses;
	size_t census_count;
	struct budget_size *sizes; /* by size_class, ascending; owned */
	size_t size_count;
	uint64_t cpu_ns; /* CPU time of the process since tracing began */
};

struct budget_report {
	uint64_t budget; /* thousandths of a percent of the targets' CPU time */
	uint64_t max_window_ns; /* that a window may take of any thread's time */
	uint64_t start_ns, time_ns; /* CLOCK_MONOTONIC: when tracing began, and now */
	/* Of all windows since then. */
	uint64_t window_count, hits, recorded;
	uint64_t lost_count; /* of these windows, those without all probes: nothing was recorded */
	uint64_t edge_hits; /* of `hits`, those while probes were attached and taken out */
	uint64_t traced_ns; /* the sum of their lengths */
	uint64_t cpu_ns; /* CPU time of the targets since start_ns */
	uint64_t cost_ns; /* of that, what tracing took */
	uint64_t busiest_ns; /* of that, what it took of one thread's in each window, at most */
	uint64_t over_count; /* windows that took more than max_window_ns of a thread's time */
	uint64_t longest_ns; /* the most that one took of a thread's time */
	bool cost_unknown; /* what a trap costs could not be measured: it was assumed to be dear */
	uint64_t hit_ns; /* what a hit costs here, on average */
	uint64_t weight; /* that blocks which enter the cohort now represent at least */
	struct budget_window *windows; /* the last ones, the oldest first; owned */
	size_t window_rows;
	/* Of all time, the oldest first, and fewer of the older ones; owned. */
	struct budget_mark *marks;
	size_t mark_count;
	struct budget_site *sites; /* in no order; owned */
	size_t site_count, site_capacity;
	/*
	 * Processes that run and can be looked at; of these, those that were not yet; and when the one was that waits longest. At most so
	 * many are looked at in one pass.
	 */
	size_t processes, processes_unseen, pass_most;
	uint64_t oldest_look_ns; /* before time_ns */
	struct budget_heap *heaps; /* owned */
	size_t heap_count, heap_capacity;
};

/* Zeroed. Free with budget_report_free, which accepts NULL. */
struct budget_report *budget_report_new(void);
void budget_report_free(struct budget_report *report);
/* Append; valid until the next one. */
struct budget_site *budget_report_add_site(struct budget_report *report);
struct budget_heap *budget_report_add_heap(struct budget_report *report);
/* The site's cohort of a size class, which is made if there is none. Valid until the next one is made. */
struct budget_cohort *budget_site_cohort(struct budget_site *site, uint32_t size_class);

/*
 * The class of blocks of `size` bytes, and the least size of a class: steps of 16 bytes up to 1024, so that those of an
 * allocator are apart, then of an eighth.
 */
#define BUDGET_SIZE_CLASSES 512
uint32_t budget_size_class(uint64_t size);
uint64_t budget_size_least(uint32_t size_class);

/* The class of an age, and the least age of a class. */
enum budget_ages budget_age_class(uint64_t age_ns);
uint64_t budget_age_least_ns(enum budget_ages age);

#endif
