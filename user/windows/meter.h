/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The price of tracing, from what the BPF programs count in a window and the measured cost of their
 * traps. A hit costs its trap, by the class of the probed instruction, plus the mean run time of
 * the BPF program there.
 */
#ifndef WINDOWS_METER_H
#define WINDOWS_METER_H

#include <stdint.h>

#include "kernel/maps.h"
#include "model/price.h"
#include "model/trap_costs.h"
#include "probe/plan.h"

struct meter {
	const struct maps *maps;
	struct plan *plan; /* the hits of its probes are counted */
	uint64_t begin_ns; /* start of the window; 0 = no window is open */
	struct price price;
};

/* Open a window at `now_ns`. Threads for which the map has no room count together, as thread 0. */
void meter_begin(struct meter *meter, uint64_t now_ns);

/* Drop the open window and open another. */
void meter_restart(struct meter *meter, uint64_t now_ns);

/*
 * Close the window at `now_ns`; programs that start now no longer count. Reads and clears the
 * counters. `costs` NULL: the traps could not be measured.
 */
void meter_end(struct meter *meter, uint64_t now_ns, const struct trap_costs *costs);

#endif
