/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The walk of the current thread, and its thread pointer. */
#ifndef INTERP_THREAD_BPF_H
#define INTERP_THREAD_BPF_H

#include "maps.bpf.h"
#include <bpf/bpf_core_read.h>
#include "interp_state.bpf.h"

/* False where the kernel lacks what the readers need. */
const volatile bool setting_interpreters = true;

/* Set with the first entry of interp_processes: until then no look-up is made. */
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

#ifdef __bpf__ /* host tests have one of their own */
#if defined(__TARGET_ARCH_arm64)
#define INTERP_THREAD_POINTER uw.tp_value
struct thread_struct___interp {
	struct {
		unsigned long tp_value;
	} uw;
} __attribute__((preserve_access_index));
#else
#define INTERP_THREAD_POINTER fsbase
struct thread_struct___interp {
	unsigned long fsbase;
} __attribute__((preserve_access_index));
#endif

struct task_struct___interp {
	struct thread_struct___interp thread;
} __attribute__((preserve_access_index));

/*
 * What thread-local addresses of the current thread are counted from, as it was when the thread was last taken from a CPU:
 * programs set the register by themselves, but only once.
 */
static __always_inline __u64 interp_thread_pointer(void)
{
	struct task_struct___interp *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, thread.INTERP_THREAD_POINTER);
}
#endif

#endif
