/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exceptions that leave a probed call. A return probe puts the address of the kernel's trampoline in the place of the
 * return address, and no exception finds its way past that: the program would be terminated. So for functions that
 * may throw, the return address is kept, and put back when an exception sets out to look for its handler. Where the
 * kernel does not allow that, calls that could fail are not followed.
 */
#ifndef THROW_BPF_H
#define THROW_BPF_H

#include "thread.bpf.h"

/* Requests from here on may fail where there is memory for smaller ones; and from there on they always do. */
#define THROW_SIZE_LARGE (1ULL << 30)
#define THROW_SIZE_ABSURD (1ULL << 57)

/* The call at the stack pointer `sp` may be left by an exception. */
static __noinline void throw_expect(struct thread *thread, __u64 sp)
{
	__u64 address = thread_read_word(sp);
	__u32 i;

	/* A function that was jumped to has the frame of the one that jumped, whose return address is known. */
	if (address == unwind_trampoline())
		return;
	for (i = 0; i < THROWING_MAX; i++)
		if (i >= thread->throwing_count || thread->throwing[i].sp <= sp)
			break;
	if (i == THROWING_MAX)
		return;
	thread->throwing[i].sp = sp;
	thread->throwing[i].address = address;
	thread->throwing_count = i + 1;
}

/* The call whose return is at the stack pointer `sp` cannot be left by an exception any more. */
static __always_inline void throw_forget(struct thread *thread, __u64 sp)
{
	__u32 last = thread->throwing_count - 1;

	if (last < THROWING_MAX && thread->throwing[last].sp + RETURN_POPS == sp)
		thread->throwing_count = last;
}

/* Give every pending call that is known its return address back. The outermost one is over with it. */
static __noinline void throw_restore(struct thread *thread)
{
	__u64 trampoline = unwind_trampoline();
	__u32 i;

	for (i = 0; i < THROWING_MAX && i < thread->throwing_count; i++) {
		struct throwing *call = &thread->throwing[i];

		if (!trampoline || thread_read_word(call->sp) != trampoline)
			continue;
		if (bpf_probe_write_user((void *)call->sp, &call->address, sizeof(call->address)))
			continue;
		if (call->sp != thread->sp)
			continue;
		thread->sp = 0;
		loss_add(LOSS_CALLS_THROWN, 1);
	}
	thread->throwing_count = 0;
}

/* Could the allocation of `size` bytes fail? Only then an exception leaves a function that allocates. */
static __noinline bool throw_is_possible(__u64 size)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	return size >= THROW_SIZE_LARGE ||
	       BPF_CORE_READ(task, signal, rlim[RLIMIT_AS].rlim_cur) != ~0UL ||
	       BPF_CORE_READ(task, signal, rlim[RLIMIT_DATA].rlim_cur) != ~0UL;
}

#endif
