/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interpreter frames of the stacks that are recorded: read with every stack, kept with every new one.
 */
#ifndef INTERP_SITE_BPF_H
#define INTERP_SITE_BPF_H

#include "interp.bpf.h"
#include "interp_compat_walk.bpf.h"
#include "interp_thread.bpf.h"

/* By the key of the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct interp_record);
} interp_stacks SEC(".maps");

/* Global functions: the verifier looks at each only once. */
__u64 interp_site_read(__u32 target_id, __u32 depth);
int interp_site_describe(void);
int interp_site_store(__u64 stack);

/*
 * Read the frames of the interpreter that the current thread, of target `target_id`, runs. Returns their hash; 0 = it runs
 * none.
 */
__noinline __u64 interp_site_read(__u32 target_id, __u32 depth)
{
	struct interp_process *process;
	struct interp_walk *walk;
	__u64 pointer;

	if (!setting_interpreters || !interp_any)
		return 0;
	process = bpf_map_lookup_elem(&interp_processes, &target_id);
	if (!process)
		return 0;
	walk = interp_walk_find(true);
	if (!walk)
		return 0;
	pointer = interp_thread_pointer();
	if (!interp_compat_walk_stack(walk, process, pointer, depth))
		interp_walk_stack(walk, process, pointer, depth);
	return walk->hash;
}

/* A block is freed, or a code object ends: what is known of code at its address is no longer true. */
static __always_inline void interp_site_end(__u64 address)
{
	if (setting_interpreters && interp_any)
		interp_end_code(address);
}

/* Describe one more frame of those that were read last in the current thread. Returns 1 when there is no other frame. */
__noinline int interp_site_describe(void)
{
	struct interp_walk *walk = interp_walk_find(false);

	return !walk || !interp_describe_one(walk);
}

/* Keep the frames that were read last in the current thread, as those of a stack that is new. */
__noinline int interp_site_store(__u64 stack)
{
	struct interp_walk *walk;
	__u32 turn;

	if (!setting_interpreters)
		return 0;
	walk = interp_walk_find(false);
	if (!walk)
		return 0;
	for (turn = 0; turn < INTERP_FRAMES_MAX; turn++)
		if (interp_site_describe())
			break;
	bpf_map_update_elem(&interp_stacks, &stack, &walk->record, BPF_NOEXIST);
	return 0;
}

#endif
