/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes inside of functions that allocate, where the result is in a register: one of them is entry and return of the call. What
 * belongs to the function's frame is known from its code (user/probe/inside.c).
 */
#ifndef INSIDE_BPF_H
#define INSIDE_BPF_H

#include "call.bpf.h"

#if defined(__TARGET_ARCH_x86)

/* A register by the number that instructions have for it. The verifier allows reads at fixed offsets only: see ARGUMENT. */
#define INSIDE_REGISTER(ctx, field)                      \
	({                                               \
		__u64 value = (ctx)->field;              \
		asm volatile("" : "+r"(value) : "i"(0)); \
		value;                                   \
	})

static __always_inline __u64 inside_register(struct pt_regs *ctx, __u32 number)
{
	switch (number) {
	case 0:
		return INSIDE_REGISTER(ctx, ax);
	case 3:
		return INSIDE_REGISTER(ctx, bx);
	case 5:
		return INSIDE_REGISTER(ctx, bp);
	case 6:
		return INSIDE_REGISTER(ctx, si);
	case 12:
		return INSIDE_REGISTER(ctx, r12);
	case 13:
		return INSIDE_REGISTER(ctx, r13);
	case 14:
		return INSIDE_REGISTER(ctx, r14);
	default:
		return INSIDE_REGISTER(ctx, r15);
	}
}

/*
 * The call with its frame at `sp` has a result. True if it is to be recorded here: not if its return is, or if the allocator makes it
 * on behalf of another one.
 */
static __always_inline bool inside_is_wanted(struct thread *thread, struct pt_regs *ctx,
					     __u64 shape, __u64 sp)
{
	bool returns = thread->call.sp == sp && SHAPE_OP(thread->call.shape) == CALL_ALLOC &&
		       SHAPE_RESULT(thread->call.shape) == RESULT_INSIDE;

	if (inside_mode != INSIDE_RECORD) {
		if (returns && !thread->inside_count++)
			__sync_fetch_and_add(&inside_open, 1);
		return false;
	}
	/* One that was seen before the probes inside began to record is its return's. */
	if (returns && thread->inside_count)
		return false;
	if (returns)
		pending_drop(thread);
	return pending_allows(thread, ctx, shape, sp);
}

/* As at the return of the call: the registers of its caller are in its frame. */
static __always_inline void inside_begin(struct thread *thread, struct pt_regs *ctx, __u64 shape,
					 __u64 sp)
{
	__u32 saved = SHAPE_COUNT_ARG(shape);

	thread_begin(thread, sp,
		     (shape & ~0xffffffULL) | SHAPE(CALL_ALLOC, 0, 0, 0, 0, SOURCE_HEAP) |
			     SHAPE_BY_EXITS);
	thread->call.returns_to = thread_read_word(sp);
	thread->call.caller_bp = saved ? thread_read_word(sp - saved * 8) : PT_REGS_FP(ctx);
	thread->call.size = thread->inside_asked;
}

static __always_inline void inside_enter(struct pt_regs *ctx, __u64 shape)
{
	__u64 sp = PT_REGS_SP(ctx) + SHAPE_STACK(shape), result, size;
	__u32 holds_size = SHAPE_SIZE_ARG(shape);
	bool notes = SHAPE_OP(shape) == CALL_INSIDE_SIZE;
	struct thread *thread;

	result = notes ? 1 : inside_register(ctx, SHAPE_PTR_ARG(shape));
	if (!result || recording != RECORD_ALL)
		return;
	thread = thread_find();
	if (!thread)
		thread = thread_create();
	if (!thread) {
		loss_add(LOSS_THREADS_REFUSED, 1);
		return;
	}
	size = holds_size == INSIDE_NOTED ? thread->inside_size : inside_register(ctx, holds_size);
	if (notes) {
		thread->inside_size = size;
		return;
	}
	thread->inside_result = result;
	thread->inside_asked = size;
	if (!inside_is_wanted(thread, ctx, shape, sp))
		return;
	inside_begin(thread, ctx, shape, sp);
	call_forget(thread, result);
	call_finish(thread, ctx, result);
	pending_drop(thread);
}

#else

static __always_inline void inside_enter(struct pt_regs *ctx, __u64 shape)
{
	(void)ctx;
	(void)shape;
}

#endif

#endif
