/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds and restores probes that others have removed from a process. A debugger that had a
 * breakpoint on the same instruction writes back what it had found there; a process may map a copy
 * over its code, or have the kernel drop its pages. The kernel does not notice, and half of the
 * calls are missed. So each report checks that the probes are in place, and restores missing ones:
 * attaching an empty program at the same place makes the kernel write the breakpoint again, and our
 * probe keeps it there when the empty one is detached. No call is counted twice, and none is
 * missed.
 */
#ifndef FOLLOW_GUARD_H
#define FOLLOW_GUARD_H

#include <stdint.h>

#include "kernel/bpf_programs.h"
#include "follow/process_table.h"
#include "follow/scan.h"

/* A mapping, present or past, of a probed file in a process. */
struct code_place {
	uint32_t module; /* index of the planned file */
	uint64_t base; /* address of file offset 0 */
	bool mapped; /* still mapped, at least in part */
	bool warned_back, warned_left; /* the warning about removed probes was given */
};

/* All such mappings of one process. */
struct guarded {
	struct code_place *places;
	size_t count, capacity;
	uint64_t opened_ns, exec_ns; /* identify the process and its program */
};

struct guard {
	struct process_table *processes;
	struct scan *scan;
	const struct bpf_programs *programs;
	struct guarded *guarded; /* by target_id - 1 */
	size_t count;
	size_t next; /* index of the process to check next */
	uint64_t missing; /* probes found missing so far */
};

void guard_free(struct guard *guard);

/* Check processes within a time limit; the next call continues with the rest. */
void guard_check(struct guard *guard);

#endif
