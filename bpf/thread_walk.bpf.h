/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walks of the current thread's stack: as unwind_steps and unwind_stack, on every kernel. */
#ifndef THREAD_WALK_BPF_H
#define THREAD_WALK_BPF_H

#include "thread_compat_walk.bpf.h"

static __always_inline bool thread_walk(struct thread *thread, __u64 sp)
{
	return setting_functions ? unwind_steps(&thread->walk, sp) : thread_compat_walk(thread, sp);
}

static __always_inline void thread_walk_stack(struct thread *thread, const struct unwind_from *from)
{
	if (setting_functions)
		unwind_stack(&thread->walk, from);
	else
		thread_compat_walk_stack(thread, from);
}

#endif
