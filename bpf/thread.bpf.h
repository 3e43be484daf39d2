/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of the current thread. relation.bpf.h decides what its pending calls mean for new calls.
 */
#ifndef THREAD_BPF_H
#define THREAD_BPF_H

#include "maps.bpf.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* What a return instruction adds to the stack pointer; where that is nothing, the register that it takes the address from. */
#if defined(__TARGET_ARCH_x86)
#define RETURN_POPS 8
#define RETURN_REGISTER(ctx) 0
#else
#define RETURN_POPS 0
#define RETURN_REGISTER(ctx) PT_REGS_RET(ctx)
#endif

/* Number of execs of the current process: identifies the program that it runs. */
static __always_inline __u32 current_exec_id(void)
{
	struct task_struct *task;

	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf))
		return (__u32)((struct task_struct *)bpf_get_current_task_btf())->self_exec_id;
	task = (struct task_struct *)bpf_get_current_task();
	return (__u32)BPF_CORE_READ(task, self_exec_id);
}

static __always_inline struct thread *thread_find(void)
{
	struct thread *thread = NULL;
	__u32 id;

	if (setting_task_storage)
		thread = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), NULL, 0);
	if (thread)
		return thread;
	id = (__u32)bpf_get_current_pid_tgid();
	return bpf_map_lookup_elem(&threads_by_id, &id);
}

/* Make the state of a thread that has none. NULL if there is no memory. */
static __noinline struct thread *thread_create(void)
{
	struct thread *thread = NULL, *zero;
	__u32 key = 0, id;

	if (setting_task_storage)
		thread = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), NULL,
					      BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (thread)
		return thread;
	zero = bpf_map_lookup_elem(&thread_zero, &key);
	if (!zero)
		return NULL;
	id = (__u32)bpf_get_current_pid_tgid();
	bpf_map_update_elem(&threads_by_id, &id, zero, BPF_NOEXIST);
	return bpf_map_lookup_elem(&threads_by_id, &id);
}

static __always_inline __u64 thread_read_word(__u64 address)
{
	__u64 word = 0;

	return bpf_probe_read_user(&word, sizeof(word), (void *)address) ? 0 : word;
}

/* Where a function returns to, at registers `ctx` of its entry; `sp` is the stack pointer there. */
static __always_inline __u64 return_address(struct pt_regs *ctx, __u64 sp)
{
#if defined(__TARGET_ARCH_x86)
	(void)ctx;
	return thread_read_word(sp);
#else
	(void)sp;
	return UNWIND_WITHOUT_SIGNATURE(RETURN_REGISTER(ctx));
#endif
}

/* A call of the program's begins. */
static __always_inline void thread_begin(struct thread *thread, __u64 sp, __u64 shape)
{
	thread->call.sp = sp;
	thread->call.shape = shape;
	thread->call.exec_id = current_exec_id();
	thread->call.interrupted = 0;
}

/* Does the thread run on its alternate signal stack? Then its stack pointer gives no order of its calls. */
static __noinline bool thread_on_signal_stack(__u64 sp)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u64 start = BPF_CORE_READ(task, sas_ss_sp);

	return start && sp - start <= BPF_CORE_READ(task, sas_ss_size);
}

#endif
