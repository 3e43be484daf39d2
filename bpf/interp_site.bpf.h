/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interpreter frames of the stacks that are recorded: read with every stack, kept with every new one.
 */
#ifndef INTERP_SITE_BPF_H
#define INTERP_SITE_BPF_H

#include "maps.bpf.h"
#include <bpf/bpf_core_read.h>
#include "interp.bpf.h"

/* False where the kernel lacks what the readers need. */
const volatile bool setting_interpreters = true;

/* Set with the first entry of interp_processes: until then nobody looks there. */
__u32 interp_any = 0;

/* One walk for each thread that runs an interpreter: others pay nothing. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct interp_walk);
} interp_walks SEC(".maps");

/*
 * The same by thread id, for kernels without task storage, or with too little of it: Linux 7.2 refuses what is as large
 * as this. And a walk to copy from.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, struct interp_walk);
} interp_walks_by_id SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct interp_walk);
} interp_walk_zero SEC(".maps");

/* By the key of the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct interp_record);
} interp_stacks SEC(".maps");

/* Global functions: the verifier looks at each only once. */
__u64 interp_site_read(__u32 owner, __u32 depth);
int interp_site_step(void);
int interp_site_describe(void);
int interp_site_store(__u64 stack);

/* The walk of the current thread; NULL if it has none and none is to be made, or there is no memory. */
static __always_inline struct interp_walk *interp_walk_find(bool create)
{
	__u32 id = (__u32)bpf_get_current_pid_tgid(), key = 0;
	struct interp_walk *zero, *walk = NULL;

	if (!setting_interpreters)
		return NULL;
	if (setting_task_storage)
		walk = bpf_task_storage_get(&interp_walks, bpf_get_current_task_btf(), NULL,
					    create ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
	if (walk)
		return walk;
	if (create) {
		zero = bpf_map_lookup_elem(&interp_walk_zero, &key);
		if (zero && !bpf_map_lookup_elem(&interp_walks_by_id, &id))
			bpf_map_update_elem(&interp_walks_by_id, &id, zero, BPF_NOEXIST);
	}
	return bpf_map_lookup_elem(&interp_walks_by_id, &id);
}

/* A step of the current thread's walk. Returns 1 when it is over. */
__noinline int interp_site_step(void)
{
	struct interp_walk *walk = interp_walk_find(false);

	return walk ? interp_walk_step(walk) : 1;
}

/* As interp_mix_part, for the current thread's walk. */
__noinline int interp_site_mix(__u32 kind, __u32 from, __u32 size)
{
	struct interp_walk *walk = interp_walk_find(false);

	return walk ? interp_mix_here(walk, kind, from, size) : 0;
}

/* As interp_walk_stack; kernels that look at no function by itself that takes memory look at interp_site_step. */
static __always_inline void interp_site_walk(struct interp_walk *walk,
					     const struct interp_process *process, __u32 depth)
{
	__u32 turn;

	if (setting_functions) {
		interp_walk_stack(walk, process, interp_thread_pointer(), depth);
		return;
	}
	if (interp_walk_begin(walk, process, interp_thread_pointer(), depth))
		for (turn = 0; turn < INTERP_TURNS * INTERP_TURNS; turn++)
			if (interp_site_step())
				break;
	interp_walk_finish(walk);
}

/*
 * Read the frames of the interpreter that the current thread, of process `owner`, runs. Returns their hash; 0 = it runs
 * none.
 */
__noinline __u64 interp_site_read(__u32 owner, __u32 depth)
{
	struct interp_process *process;
	struct interp_walk *walk;

	if (!setting_interpreters || !interp_any)
		return 0;
	process = bpf_map_lookup_elem(&interp_processes, &owner);
	if (!process)
		return 0;
	walk = interp_walk_find(true);
	if (!walk)
		return 0;
	interp_site_walk(walk, process, depth);
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
