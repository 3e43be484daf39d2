/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loops over the steps of a walk, for kernels before 5.12: their global functions take no memory, so the verifier looks at one
 * that finds it by itself.
 */
#ifndef THREAD_COMPAT_WALK_BPF_H
#define THREAD_COMPAT_WALK_BPF_H

#include "thread.bpf.h"

int thread_compat_step(__u64 sp);

/* Steps of the current thread's walk; 1 at its end, or if it is at `sp`. */
__noinline int thread_compat_step(__u64 sp)
{
	struct thread *thread = thread_find();

	if (!thread || (sp && thread->walk.sp == sp))
		return 1;
	if (thread->walk.flags & UNWIND_BY_BP)
		return unwind_run_by_bp(&thread->walk);
	if (unwind_step(&thread->walk))
		return 1;
	unwind_run(&thread->walk, sp);
	return 0;
}

/* As unwind_steps. */
static __always_inline bool thread_compat_walk(struct thread *thread, __u64 sp)
{
	__u32 turn;

	for (turn = 0; turn < UNWIND_TURNS * UNWIND_TURNS; turn++)
		if (thread_compat_step(sp))
			break;
	return sp && thread->walk.sp == sp;
}

/* As unwind_stack. */
static __always_inline void thread_compat_walk_stack(struct thread *thread,
						     const struct unwind_from *from)
{
	unwind_start(&thread->walk, from);
	thread_compat_walk(thread, 0);
	unwind_finish(&thread->walk);
}

#endif
