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
	const struct plan *plan;
	uint64_t begin_ns; /* of the window; 0 = there is none under way */
	struct price price;
};

/* Make room for the hits of threads for which there is no room. The window begins at `now_ns`. */
void meter_begin(struct meter *meter, uint64_t now_ns);

/*
 * The window has ended at `now_ns`, and no program counts any more: read what was counted, and remove it. NULL costs: they
 * could not be measured.
 */
void meter_end(struct meter *meter, uint64_t now_ns, const struct trap_costs *costs);

/* What a trap costs at an instruction of this class. */
uint32_t meter_trap_ns(const struct trap_costs *costs, enum probe_cost cost);

#endif
