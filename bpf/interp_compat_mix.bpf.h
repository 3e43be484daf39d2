/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For kernels before 5.13, where setting_functions is not set: the verifier would look at interp_mix_part(), which takes a
 * pointer, at each of its calls. What it looks at once is a function that finds the current thread's walk by itself.
 */
#ifndef INTERP_COMPAT_MIX_BPF_H
#define INTERP_COMPAT_MIX_BPF_H

#include "interp_part.bpf.h"
#include "interp_thread.bpf.h"

int interp_compat_mix(__u32 kind, __u32 from, __u32 size);

/* As interp_mix_part, for the current thread's walk. */
__noinline int interp_compat_mix(__u32 kind, __u32 from, __u32 size)
{
	struct interp_walk *walk = interp_walk_find(false);

	return walk ? interp_mix_here(walk, kind, from, size) : 0;
}

/* False if this is not the way to mix in bytes. */
static __always_inline bool interp_compat_mix_bytes(__u32 kind, __u32 from, __u32 size)
{
	if (setting_functions)
		return false;
	interp_compat_mix(kind, from, size);
	return true;
}

#endif
