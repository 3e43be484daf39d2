/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What will be probed, where and why; and what will not. Made without attaching anything. */
#ifndef PROBE_PLAN_H
#define PROBE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/module.h"
#include "model/snapshot.h"

/* What a trap at an instruction costs. */
enum probe_cost {
	COST_UNKNOWN = 0,
	COST_EMULATED, /* one trap */
	COST_STEPPED, /* a trap and an out-of-line single step */
	COST_OPTIMIZED, /* no trap: the kernel turns it into a call */
};

struct plan_probe {
	uint32_t module; /* index in the module list of the plan */
	uint32_t function; /* index in `functions`: the id of the shape */
	const char *symbol; /* owned by the plan */
	uint64_t shape; /* with the function id */
	uint64_t entry_offset; /* file offset of the function */
	uint64_t site_offset; /* file offset of the probed instruction */
	uint64_t size; /* of the function, bytes; 0 = unknown */
	enum probe_cost cost;
	char instruction[64]; /* the probed instruction, disassembled; "" = not decoded */
	char reason[96]; /* why this site: a phrase */
	char aliases[128]; /* other names at the same entry, separated by blanks */
};

struct plan {
	struct module_list *modules; /* not owned */
	struct plan_probe *probes;
	size_t count, capacity;
	struct function_name *functions; /* indexed by function id; id 0 is not used */
	size_t function_count, function_capacity;
	char **skipped; /* sentences: what was left out and why; owned */
	size_t skipped_count, skipped_capacity;
};

#endif
