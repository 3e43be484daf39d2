/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds probes that others have removed from a process. A debugger that had a breakpoint on the same instruction writes
 * back what it had found there; a process may map a copy over its code, or have the kernel drop its pages. The kernel does not
 * notice, and half of the calls are missed. So each report checks whether they are there, and those that are not are
 * put back: a probe of an empty program at the same place makes the kernel write the breakpoint again, and as ours is
 * there, too, it stays when that one goes. No call is seen twice for it, and none is missed.
 */
#ifndef SESSION_GUARD_H
#define SESSION_GUARD_H

#include <stdint.h>

#include "kernel/bpf_programs.h"
#include "session/process_table.h"
#include "session/scan.h"

/* Where a process has, or had, mapped the code of a file that is probed. */
struct code_place {
	uint32_t module; /* of the planned file */
	uint64_t base; /* address of the file's beginning */
	bool mapped; /* some of it still is */
	bool warned_back, warned_left; /* that probes were taken out */
};

/* The places of a process. */
struct guarded {
	struct code_place *places;
	size_t count, capacity;
	uint64_t opened_ns, exec_ns; /* of the process and the program whose they are */
};

struct guard {
	struct process_table *processes;
	struct scan *scan;
	const struct bpf_programs *programs;
	struct guarded *guarded; /* by target_id - 1 */
	size_t count;
	size_t next; /* the process whose code is checked next */
	uint64_t missing; /* probes that were found to be taken out */
};

void guard_free(struct guard *guard);

/* Look at the code of processes, as many as there is time for; the next call goes on with the others. */
void guard_check(struct guard *guard);

#endif
