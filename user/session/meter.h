/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The price of tracing: what the BPF programs have counted in a window, and what the traps cost that lead to them. A hit costs the
 * trap, by the class of the probed instruction, and the mean time of the BPF program there.
 */
#ifndef SESSION_METER_H
#define SESSION_METER_H

#include <stdint.h>

#include "kernel/maps.h"
#include "model/price.h"
#include "model/trap_costs.h"
#include "probe/plan.h"

struct meter {
	const struct maps *maps;
	struct plan *plan; /* hits of its probes are counted */
	uint64_t begin_ns; /* of the window; 0 = there is none under way */
	struct price price;
};

/* The window begins at `now_ns`. Hits of threads for which the map has no room will count together, under thread 0. */
void meter_begin(struct meter *meter, uint64_t now_ns);

/* Forget the window that is under way, and begin another one. */
void meter_restart(struct meter *meter, uint64_t now_ns);

/*
 * The window has ended at `now_ns`, and programs that start now do not count: read what was counted, and remove it. NULL costs:
 * they could not be measured.
 */
void meter_end(struct meter *meter, uint64_t now_ns, const struct trap_costs *costs);

#endif
