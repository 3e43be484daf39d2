/* SPDX-License-Identifier: GPL-2.0-or-later */
/* As interp_compat_mix.bpf.h: a loop over the steps of a walk, for kernels before 5.13. */
#ifndef INTERP_COMPAT_WALK_BPF_H
#define INTERP_COMPAT_WALK_BPF_H

#include "interp.bpf.h"
#include "interp_thread.bpf.h"

int interp_compat_step(void);

/* A step of the current thread's walk. Returns 1 when it is over. */
__noinline int interp_compat_step(void)
{
	struct interp_walk *walk = interp_walk_find(false);

	return walk ? interp_walk_step(walk) : 1;
}

/* As interp_walk_stack. False if this is not the way to walk. */
static __always_inline bool interp_compat_walk_stack(struct interp_walk *walk,
						     const struct interp_process *process,
						     __u64 thread_pointer, __u32 depth)
{
	__u32 turn;

	if (setting_functions)
		return false;
	if (interp_walk_begin(walk, process, thread_pointer, depth))
		for (turn = 0; turn < INTERP_TURNS * INTERP_TURNS; turn++)
			if (interp_compat_step())
				break;
	interp_walk_finish(walk);
	return true;
}

#endif
