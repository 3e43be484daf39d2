/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keys of sites. A process can give its stacks any return addresses, so the keys begin with a secret, and with the
 * process: what begins differently cannot be made equal by the frames that follow.
 */
#ifndef SITE_KEY_BPF_H
#define SITE_KEY_BPF_H

#include "unwind.bpf.h"

/* Set in the function's place for the site of blocks whose stack is not kept. */
#define SITE_WITHOUT_STACK (1ULL << 63)

/* What the hash of a stack begins with. More than one round: all bits of two processes' beginnings are unrelated. */
static __always_inline __u64 site_key_begin(__u64 seed, __u32 target_id, __u32 exec_id)
{
	__u64 key = mix(mix(seed, target_id), exec_id);

	return mix(mix(key, seed), seed >> 32);
}

/* The key of a site from the hash of its stack, that of the interpreter's frames (0 = none) and its function. */
static __always_inline __u64 site_key_end(__u64 hash, __u64 interp, __u64 function)
{
	if (interp)
		hash = mix(hash, interp);
	return mix(hash, function);
}

/* The same where a site is of threads of one name, too. */
static __always_inline __u64 site_key_of_thread(__u64 key, const __u64 name[2])
{
	return mix(mix(key, name[0]), name[1]);
}

/* Does a site that was found by its key belong to this function of this program? */
static __always_inline bool site_key_holds(const struct site *site, __u32 target_id, __u32 exec_id,
					   __u32 function)
{
	return site->target_id == target_id && site->exec_id == exec_id &&
	       site->function == function;
}

#endif
