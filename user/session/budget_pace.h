/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When the next window of --budget begins, how long it is, and after how many hits it ends, so that tracing takes no more than its
 * share of the targets' CPU time, and no window more than its limit of anybody's time. Pure: times and costs come from the caller.
 */
#ifndef SESSION_BUDGET_PACE_H
#define SESSION_BUDGET_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct budget_pace {
	uint64_t budget; /* thousandths of a percent of the targets' CPU time */
	uint64_t max_window_ns; /* that a window may take of a thread's time */
	uint64_t random; /* state of the phases; not 0 */
	uint64_t cpu_ns; /* of the targets since the start */
	uint64_t cost_ns; /* of this, what windows have taken */
	uint64_t hit_ns; /* what a hit costs; at first, what one is assumed to cost */
	uint64_t edges_ns; /* what a window costs of late before it records and after it */
	uint64_t late_ns; /* the part of that after it */
	/* Of the last window: what it cost to record, and in what time. 0 = there was none. */
	uint64_t last_recorded_ns, last_length_ns;
	/* When cpu_ns was read first and last; CLOCK_MONOTONIC. */
	uint64_t start_ns, read_ns;
};

struct budget_share {
	uint64_t hits; /* after these it ends, without those that attaching takes */
	uint64_t length_ns; /* or after this time */
	/* Or after these, with those that attaching takes: what else it may cost is taken while probes go out. */
	uint64_t most_hits;
};

/* How a window went. */
struct budget_spent {
	uint64_t length_ns, hits, cost_ns;
	uint64_t edge_hits; /* of these hits, those before it recorded and after it */
	uint64_t late_hits; /* of these, those after it */
};

/* CPU time of the targets since the start, read at `now_ns`. */
void budget_pace_see_cpu(struct budget_pace *pace, uint64_t now_ns, uint64_t cpu_ns);

/* Is there enough left for a window now? True with its share. */
bool budget_pace_allows(const struct budget_pace *pace, struct budget_share *ret_share);

/* A window has ended. */
void budget_pace_spend(struct budget_pace *pace, const struct budget_spent *spent);

/* When to begin the next window, or to ask again: from `now_ns` on at a random phase of the time in which the budget has grown enough. */
uint64_t budget_pace_next_ns(struct budget_pace *pace, uint64_t now_ns);

#endif
