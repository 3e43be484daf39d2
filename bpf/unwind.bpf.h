/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walking a user stack by unwind tables, from one instruction out to the thread's first function.
 *
 * Entry point: unwind_stack(). The includer brings the kernel's types and the helpers, so that the same code runs
 * in tests on the host.
 *
 * What makes it fast: the stack is read in windows of up to 4 KB, since one such copy costs as much as two reads of
 * eight bytes; rules found once are remembered by pc; a saved frame pointer is read only when a rule asks for it.
 * What makes it load on every kernel: the state lives in map memory, steps and searches are global functions
 * that the verifier looks at once, and searches have no branches.
 */
#ifndef UNWIND_BPF_H
#define UNWIND_BPF_H

#include "unwind_run.bpf.h"

/* Global functions: the verifier looks at each only once. */
int unwind_some_steps(struct unwind *walk, __u64 sp);
int unwind_steps(struct unwind *walk, __u64 sp);
int unwind_steps_by_bp(struct unwind *walk);

/* A process without tables is walked by its frame pointers. */
static __always_inline void unwind_start(struct unwind *walk, const struct unwind_from *from)
{
	__u32 *process = NULL, *generation = NULL, target_id = from->target_id, index = 0;

	walk->ip = from->ip;
	walk->sp = from->sp;
	walk->bp = from->bp;
	if (UNWIND_HAS_LR)
		walk->lr = from->lr;
	walk->bp_address = UNWIND_BP_HERE;
	walk->window_start = 0;
	walk->window_bytes = 0;
	walk->flags = from->flags;
	walk->depth = from->depth;
	walk->record.count = 0;
	walk->record.end = UNWIND_END_DEPTH;
	if (!(from->flags & UNWIND_BY_BP))
		process = bpf_map_lookup_elem(&unwind_processes, &target_id);
	if (process) {
		index = *process;
		generation = bpf_map_lookup_elem(&unwind_generations, &index);
	}
	walk->process = index;
	walk->exec_id = from->exec_id;
	walk->generation = generation ? *(volatile __u32 *)generation : 0;
	if (!generation)
		walk->flags |= UNWIND_BY_BP;
}

/* Some steps of a walk. Returns 1 at its end, and where it is at the stack pointer `sp`. */
__noinline int unwind_some_steps(struct unwind *walk, __u64 sp)
{
	__u32 turn;

	for (turn = 0; walk && turn < UNWIND_TURNS; turn++) {
		unwind_run(walk, sp);
		if ((sp && walk->sp == sp) || unwind_step(walk))
			return 1;
	}
	return 0;
}

/* The steps of a walk, to its end or, unless `sp` is 0, until it is at this stack pointer: then returns 1. */
__noinline int unwind_steps(struct unwind *walk, __u64 sp)
{
	__u32 turn;

	if (!walk)
		return 0;
	unwind_fill(walk, walk->sp & ~7ULL);
	for (turn = 0; turn < UNWIND_TURNS; turn++)
		if (unwind_some_steps(walk, sp))
			break;
	return sp && walk->sp == sp;
}

__noinline int unwind_steps_by_bp(struct unwind *walk)
{
	__u32 turn;

	for (turn = 0; turn <= STACK_FRAMES_MAX / UNWIND_RUN_FRAMES_BY_BP; turn++)
		if (unwind_run_by_bp(walk))
			return 1;
	return 0;
}

static __always_inline void unwind_finish(struct unwind *walk)
{
	walk->hash = walk->hash ? walk->hash : 1;
}

/*
 * Walk the stack of the current thread. Leaves the frames, their count, the end and the hash (never 0) in `walk`; in
 * its flags, whether it was by frame pointers.
 */
static __always_inline void unwind_stack(struct unwind *walk, const struct unwind_from *from)
{
	unwind_start(walk, from);
	if (walk->flags & UNWIND_BY_BP)
		unwind_steps_by_bp(walk);
	else
		unwind_steps(walk, 0);
	walk->extent = walk->sp - from->sp;
	unwind_finish(walk);
}

#endif
