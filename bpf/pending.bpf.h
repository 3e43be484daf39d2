/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calls of a thread that are pending at the same time: those during which the program has made others. Mostly there is
 * one: what an allocator's own code calls is not recorded.
 */
#ifndef PENDING_BPF_H
#define PENDING_BPF_H

#include "realloc.bpf.h"

/* Every pending call is examined once; where some turn out to be over, the last of the others may be left out. */
#define PENDING_TURNS (CALLS_OTHERS_MAX + 2)

int pending_examine(int relation, __u64 sp);

/* Another pending call takes the place of the thread's present one, which is over. */
static __noinline void pending_drop_one(struct thread *thread)
{
	__u64 last = thread->other_count - 1;

	HIDE(last);
	thread->other_count = (__u32)last;
	thread->call = thread->others[last & (CALLS_OTHERS_MAX - 1)];
}

/* The present call is over. */
static __always_inline void pending_drop(struct thread *thread)
{
	thread->call.sp = 0;
	if (!thread->other_count)
		return;
	thread->off_stack = 0;
	pending_drop_one(thread);
}

/* Let the call at this position of the others be the present one. */
static __noinline void pending_swap(struct thread *thread, __u64 position)
{
	__u64 *left = (__u64 *)&thread->call, *right, word;
	__u32 i;

	HIDE(position);
	right = (__u64 *)&thread->others[position & (CALLS_OTHERS_MAX - 1)];
	for (i = 0; i < sizeof(struct call) / sizeof(word); i++) {
		word = left[i];
		left[i] = right[i];
		right[i] = word;
	}
}

/* The present call was left without a return: what it had begun is undone as far as it can be. */
static __noinline void pending_heal(struct thread *thread)
{
	if (thread->call.exec_id == current_exec_id()) {
		loss_add(LOSS_RETURNS_UNMATCHED, 1);
		if (SHAPE_OP(thread->call.shape) == CALL_REALLOC)
			realloc_restore(thread);
	}
	pending_drop(thread);
}

/*
 * Draw the consequence of what the present call is to a new one at stack pointer `sp` (enum
 * relation), and go on to the next. Returns 1 if there is none, or if the new call is the
 * allocator's own (thread->denied). A global function, since the verifier looks at its caller's
 * loop turn by turn.
 */
__noinline int pending_examine(int relation, __u64 sp)
{
	struct thread *thread = thread_find();

	if (!thread || !thread->call.sp)
		return 1;
	if (relation == CALL_IS_OVER) {
		pending_heal(thread);
		return 0;
	}
	if (relation == CALL_IS_UNCLEAR)
		loss_add(LOSS_CALLS_UNCLEAR, 1);
	thread->denied = relation == CALL_IS_UNCLEAR || relation == CALL_IS_SERVED;
	if (thread->denied)
		return 1;
	if (!thread->call.returns_to && (relation == CALL_IS_SUSPENDED || sp > thread->call.sp))
		thread->off_stack = 1;
	thread->call.interrupted |= relation == CALL_IS_INTERRUPTED;
	if (thread->examined >= thread->other_count)
		return 1;
	pending_swap(thread, thread->examined++);
	return 0;
}

/* Keep the present call with the others. False if there are too many. */
static __noinline bool pending_push(struct thread *thread)
{
	__u64 count = thread->other_count;

	HIDE(count);
	if (count >= CALLS_OTHERS_MAX) {
		loss_add(LOSS_CALLS_TOO_DEEP, 1);
		return false;
	}
	thread->others[count] = thread->call;
	thread->other_count = (__u32)count + 1;
	thread->call.sp = 0;
	return true;
}

/*
 * A call, with its frame at thread->begins_at, begins while others seem to be pending. True if it is the program's. Then no call is present, and
 * thread->off_stack is set if a return probe on it would make the kernel drop one that is pending on another stack.
 */
static __always_inline bool pending_admit(struct thread *thread, struct pt_regs *ctx, __u64 shape)
{
	int turn;

	if (thread->call.exec_id != current_exec_id()) {
		thread->other_count = 0;
		thread->call.sp = 0;
		return true;
	}
	thread->examined = 0;
	thread->off_stack = 0;
	thread->denied = 0;
	thread->maps = SHAPE_SOURCE(shape) == SOURCE_MMAP;
	for (turn = 0; turn < PENDING_TURNS; turn++)
		if (pending_examine(relation_at(ctx, thread->begins_at), thread->begins_at))
			break;
	thread->maps = 0;
	return !thread->denied && (!thread->call.sp || pending_push(thread));
}

/* A call with its frame at `sp` begins. True if it is the program's: see pending_admit. Mostly nothing is pending. */
static __always_inline bool pending_allows(struct thread *thread, struct pt_regs *ctx, __u64 shape,
					   __u64 sp)
{
	if (!thread->call.sp)
		return true;
	thread->begins_at = sp;
	return pending_admit(thread, ctx, shape);
}

/* Is this the present call: with its frame at `sp`, by its exits or by a return probe? */
static __always_inline bool pending_is_at(const struct thread *thread, __u64 sp, bool by_exits)
{
	return thread->call.sp == sp && !thread->call.returns_to == !by_exits;
}

/* Let a pending call be the present one. False if there is none at `sp`. */
static __noinline bool pending_find(struct thread *thread, __u64 sp, bool by_exits)
{
	__u64 i;

	for (i = 0; i < CALLS_OTHERS_MAX; i++) {
		if (i >= thread->other_count)
			return false;
		if (thread->others[i].sp == sp && !thread->others[i].returns_to == !by_exits)
			break;
	}
	if (i == CALLS_OTHERS_MAX)
		return false;
	pending_swap(thread, i);
	return true;
}

/* Is a call pending whose frame is at `sp`? Then it is the present one. */
static __always_inline bool pending_take(struct thread *thread, __u64 sp, bool by_exits)
{
	if (!thread || !thread->call.sp ||
	    (!pending_is_at(thread, sp, by_exits) &&
	     !(thread->other_count && pending_find(thread, sp, by_exits))))
		return false;
	return thread->call.exec_id == current_exec_id();
}

#endif
