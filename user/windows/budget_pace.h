/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides when the next window of --budget begins, how long it lasts, and after how many hits it
 * ends, so that tracing stays within its share of the targets' CPU time, and a window within its
 * limit of any thread's time. Pure: the caller supplies times and costs.
 */
#ifndef WINDOWS_BUDGET_PACE_H
#define WINDOWS_BUDGET_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct budget_pace {
	uint64_t budget; /* thousandths of a percent of the targets' CPU time */
	uint64_t max_window_ns; /* limit of one window, in time of a single thread */
	uint64_t random; /* state of the random phase; not 0 */
	uint64_t cpu_ns; /* CPU time of the targets since the start */
	uint64_t cost_ns; /* the part of it that windows have taken */
	uint64_t hit_ns; /* cost of a hit; an assumption at first */
	uint64_t edges_ns; /* recent cost of a window before and after it records */
	uint64_t late_ns; /* the part of edges_ns after it records */
	/* Cost and duration of the last window's recording; 0 = no window yet. */
	uint64_t last_recorded_ns, last_length_ns;
	/* Times of the first and the last reading of cpu_ns; CLOCK_MONOTONIC. */
	uint64_t start_ns, read_ns;
};

struct budget_share {
	/* the window ends after this many hits, attaching excluded */
	uint64_t hits;
	uint64_t length_ns; /* or after this time */
	/*
	 * Or after this many hits, those during attaching included: the rest of its share is spent
	 * while probes are removed.
	 */
	uint64_t most_hits;
};

/* What a window has spent. */
struct budget_spent {
	uint64_t length_ns, hits, cost_ns;
	uint64_t edge_hits; /* the part of `hits` before and after recording */
	uint64_t late_hits; /* the part of `edge_hits` after recording */
};

/* Pass in the CPU time of the targets since the start, read at `now_ns`. */
void budget_pace_see_cpu(struct budget_pace *pace, uint64_t now_ns, uint64_t cpu_ns);

/* Is there enough budget for a window now? If so, returns true and sets its share. */
bool budget_pace_allows(const struct budget_pace *pace, struct budget_share *ret_share);

/* Account for a window that has ended. */
void budget_pace_spend(struct budget_pace *pace, const struct budget_spent *spent);

/*
 * When to begin the next window, or to ask again: a random point within the time that the budget
 * needs to refill, counted from `now_ns`.
 */
uint64_t budget_pace_next_ns(struct budget_pace *pace, uint64_t now_ns);

#endif
