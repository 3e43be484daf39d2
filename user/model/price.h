/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cost of tracing, measured in a window at its start. */
#ifndef MODEL_PRICE_H
#define MODEL_PRICE_H

#include <stdbool.h>
#include <stdint.h>

struct price {
	bool counted; /* the window is over: the next three fields are set */
	uint64_t window_ns;
	uint64_t calls; /* of probed functions, and samples, in the window */
	uint64_t threads; /* that made them */
	bool measured; /* the following costs are set, in CPU time of the targets */
	uint64_t cost_ns; /* of all calls of the window */
	uint64_t busiest_ns; /* of the calls of the busiest thread */
	uint32_t busiest_thread; /* its id; 0 = none */
	uint64_t busiest_cpu_ns; /* total CPU time of that thread; 0 = unknown */
	uint32_t busiest_pid; /* its process, if several are traced; else 0 */
	/* Cost of a call; if there was none, of a malloc or free without recording. */
	uint64_t call_ns;
};

/* Calls per second; 0 if not counted. */
uint64_t price_calls_per_second(const struct price *price);

/*
 * Share of one core, in thousandths of a percent, that tracing takes in total and in the busiest
 * thread.
 */
uint64_t price_share(const struct price *price);
uint64_t price_busiest_share(const struct price *price);

/*
 * Lower bound of the factor, in thousandths, by which the CPU time of the busiest thread grows;
 * capped at PRICE_SLOWDOWN_MAX. If its CPU time is unknown, assumes that it ran all the time.
 */
#define PRICE_SLOWDOWN_MAX 100000
uint64_t price_slowdown(const struct price *price);

#endif
