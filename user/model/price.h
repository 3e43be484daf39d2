/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tracing costs its targets, as it was measured in a window at its beginning. */
#ifndef MODEL_PRICE_H
#define MODEL_PRICE_H

#include <stdbool.h>
#include <stdint.h>

struct price {
	bool counted; /* the window is over: the next three are known */
	uint64_t window_ns;
	uint64_t calls; /* of probed functions, and samples, within the window */
	uint64_t threads; /* that made them */
	bool measured; /* so are the costs, which are CPU time of the targets */
	uint64_t cost_ns; /* of all calls of the window */
	uint64_t busiest_ns; /* of those of the thread for which it is most */
	uint32_t busiest_thread; /* its id; 0 = there is none */
	uint64_t busiest_cpu_ns; /* all CPU time of that thread; 0 = not known */
	uint32_t busiest_pid; /* its process, if there are several; otherwise 0 */
	/* Of a call; if there was none, of a malloc or free without what is recorded. */
	uint64_t call_ns;
};

/* Calls in a second; 0 if they were not counted. */
uint64_t price_calls_per_second(const struct price *price);

/* Thousandths of a percent of one core that tracing takes, in all and of the busiest thread. */
uint64_t price_share(const struct price *price);
uint64_t price_busiest_share(const struct price *price);

/*
 * How many times as much CPU time the busiest thread takes for its work at least, in thousandths; PRICE_SLOWDOWN_MAX is that, or more. Where its CPU
 * time is not known, as if it ran all the time.
 */
#define PRICE_SLOWDOWN_MAX 100000
uint64_t price_slowdown(const struct price *price);

#endif
