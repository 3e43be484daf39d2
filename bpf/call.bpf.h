/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A call of an allocator function, from its entry to its return or exit. What its arguments mean is in its shape.
 */
#ifndef CALL_BPF_H
#define CALL_BPF_H

#include "pending.bpf.h"

#define SIZE_OVERFLOW (~0ULL)
#define MAP_FAILED (~0ULL)
/* Results of system calls from here on are errors. */
#define ERRORS_FROM (-4095ULL)

/*
 * One argument. The verifier allows reads of the registers at fixed offsets only; the assembly, with another operand each
 * time, keeps the compiler from making one read of several. Its text is empty: the compiler describes the line of any other, and
 * kernels refuse two lines for one instruction.
 */
#define ARGUMENT(ctx, position)                                    \
	({                                                         \
		__u64 argument = PT_REGS_PARM##position(ctx);      \
		asm volatile("" : "+r"(argument) : "i"(position)); \
		argument;                                          \
	})

/* The argument at a position, 1 to 5; 0 for any other. */
static __always_inline __u64 call_argument(struct pt_regs *ctx, __u32 position)
{
	switch (position) {
	case 1:
		return ARGUMENT(ctx, 1);
	case 2:
		return ARGUMENT(ctx, 2);
	case 3:
		return ARGUMENT(ctx, 3);
	case 4:
		return ARGUMENT(ctx, 4);
	case 5:
		return ARGUMENT(ctx, 5);
	default:
		return 0;
	}
}

static __noinline __u64 fixed_size_of(__u32 function)
{
	__u64 *size = bpf_map_lookup_elem(&fixed_sizes, &function);

	return size ? *size : 0;
}

/* An argument that is a size or a count. */
static __always_inline __u64 call_number(struct pt_regs *ctx, __u32 position)
{
	__u64 number = call_argument(ctx, ARG_POSITION(position));

	return setting_named && position & ARG_IS_INT ? (__u32)number : number;
}

/* The bytes that a call asks for; SIZE_OVERFLOW if count times size has no 64-bit value. */
static __always_inline __u64 call_size(struct pt_regs *ctx, __u64 shape)
{
	__u64 size = call_number(ctx, SHAPE_SIZE_ARG(shape));
	__u64 count, most;

	if (setting_named && SHAPE_SIZE_ARG(shape) == SIZE_ARG_FIXED)
		size = fixed_size_of(SHAPE_FUNCTION(shape));

	if (!SHAPE_COUNT_ARG(shape))
		return size;
	count = call_number(ctx, SHAPE_COUNT_ARG(shape));
	if (!(size >> 32 || count >> 32))
		return size * count;
	most = count ? ~0ULL / count : ~0ULL;
	/* The compiler would make a 128-bit multiplication of this, which BPF lacks. */
	asm volatile("" : "+r"(most));
	return size > most ? SIZE_OVERFLOW : size * count;
}

/*
 * Report a mapping call to user space, which keeps mappings exactly. Not inlined, since the stacks of functions add up
 * where a walk begins, and the kernel has a limit for the sum.
 */
static __noinline void mapping_report(struct thread *thread, enum mapping_phase phase, __u64 result,
				      __u64 site)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct event_mapping event = {
		.kind = EVENT_MAPPING,
		.target_id = SHAPE_TARGET(thread->call.shape),
		.exec_id = thread->call.exec_id,
		.thread = (__u32)id,
		.op = SHAPE_OP(thread->call.shape),
		.phase = phase,
		.old_address = thread->call.pointer,
		.old_length = thread->call.taken.size,
		.new_length = thread->call.size,
		.flags = thread->call.taken.site,
		.result = result,
		.site = site,
		.time_ns = bpf_ktime_get_ns(),
	};

	if (bpf_ringbuf_output(&events, &event, sizeof(event), 0))
		loss_add(LOSS_EVENTS_DROPPED, 1);
}

/*
 * Entry of a mapping call. Its arguments travel in the thread's state; the old length and the flags take
 * the place of the block that realloc would take out.
 */
static __always_inline void mapping_enter(struct thread *thread, struct pt_regs *ctx, __u32 op)
{
	thread->call.pointer = PT_REGS_PARM1(ctx);
	thread->call.taken.size = PT_REGS_PARM2(ctx);
	thread->call.taken.site = PT_REGS_PARM4(ctx);
	thread->call.size = op == CALL_MMAP ? PT_REGS_PARM2(ctx) : 0;
	if (op == CALL_MREMAP)
		thread->call.size = PT_REGS_PARM3(ctx);
	if (op != CALL_MMAP || thread->call.taken.site & MAP_FIXED)
		mapping_report(thread, MAPPING_ENTER, 0, 0);
}

/* The block that any other allocating function hands out, which has come to `result`; 0 = none. */
static __always_inline __u64 alloc_result(struct thread *thread, __u64 result)
{
	if (SHAPE_RESULT(thread->call.shape) != RESULT_OUT_STATUS)
		return result;
	if ((__u32)result)
		return 0;
	if (bpf_probe_read_user(&result, sizeof(result), (void *)thread->call.pointer)) {
		loss_add(LOSS_RESULTS_UNREADABLE, 1);
		loss_add(LOSS_BYTES_UNATTRIBUTED, thread->call.size);
		return 0;
	}
	return result;
}

/*
 * Is this the recorded call's function again, called from the same place? A function does not jump to its own beginning, so
 * the recorded call has left by an instruction that is not probed.
 */
static __always_inline bool call_is_repeated(struct thread *thread, struct pt_regs *ctx,
					     __u64 shape)
{
	return thread->call.returns_to && thread->call.sp == PT_REGS_SP(ctx) &&
	       thread->call.shape == shape;
}

/* The call that has begun is not followed to its return. */
static __noinline void call_decline(struct thread *thread)
{
	__u32 op = SHAPE_OP(thread->call.shape);

	thread->off_stack = 0;
	loss_add(LOSS_RETURNS_DECLINED, 1);
	if (op < CALL_MMAP)
		loss_add(LOSS_BYTES_UNATTRIBUTED, thread->call.size);
	if (op == CALL_REALLOC)
		realloc_finish_old(thread);
	pending_drop(thread);
}

/* May a call be recorded that begins while another one seems to be pending? */
static __always_inline bool call_is_admitted(struct thread *thread, struct pt_regs *ctx,
					     __u64 shape)
{
	if (call_is_repeated(thread, ctx, shape))
		pending_heal(thread);
	return pending_allows(thread, ctx, shape, PT_REGS_SP(ctx));
}

/* Note what a call was asked for. */
static __noinline void call_begin(struct thread *thread, struct pt_regs *ctx, __u64 shape)
{
	__u32 op = SHAPE_OP(shape);

	thread_begin(thread, PT_REGS_SP(ctx), shape);
	thread->call.returns_to = shape & SHAPE_BY_EXITS ? return_address(ctx, PT_REGS_SP(ctx)) : 0;
	thread->call.caller_bp = PT_REGS_FP(ctx);
	if (op >= CALL_MMAP) {
		mapping_enter(thread, ctx, op);
		return;
	}
	if (setting_light)
		thread->inside_count = 0;
	thread->call.size = call_size(ctx, shape);
	thread->call.pointer = call_argument(ctx, SHAPE_PTR_ARG(shape));
	if (op == CALL_REALLOC)
		realloc_enter(thread);
}

/* Entry of a call that is not recorded. While only ends of blocks are, realloc is one: whatever it makes is not followed. */
static __noinline void call_enter_unrecorded(struct pt_regs *ctx, __u64 shape)
{
	__u64 address = call_argument(ctx, SHAPE_PTR_ARG(shape));

	if (recording == RECORD_ENDS && SHAPE_OP(shape) == CALL_REALLOC && address)
		record_forget(shape, address);
}

/* Entry of a call. True if its return is wanted: no other one is pending, or the program makes it in spite of that. */
static __always_inline bool call_enter(struct pt_regs *ctx, __u64 shape)
{
	struct thread *thread;

	if (recording != RECORD_ALL) {
		call_enter_unrecorded(ctx, shape);
		return false;
	}
	thread = thread_find();
	if (!thread)
		thread = thread_create();
	if (!thread) {
		loss_add(LOSS_THREADS_REFUSED, 1);
		return false;
	}
	if (thread->call.sp && !call_is_admitted(thread, ctx, shape))
		return false;
	call_begin(thread, ctx, shape);
	if (!thread->off_stack || shape & SHAPE_BY_EXITS || !setting_declines)
		return true;
	call_decline(thread);
	return false;
}

/*
 * The call returns a block of a size that is not recorded: what stood at its address has been freed, which nobody has seen. Not
 * inlined, for the same reason as mapping_report; and not for results that are read at exits, where there is no more stack.
 */
static __noinline void call_forget(struct thread *thread, __u64 result)
{
	if (result && SHAPE_OP(thread->call.shape) < CALL_MMAP &&
	    !size_is_wanted(thread->call.size))
		record_forget(thread->call.shape, result);
}

/*
 * The recorded call returns `result`. What it has made has a site if it is of a wanted size; the
 * verifier looks at all that belongs to sites once for each place that asks for one, so there is
 * only this.
 */
static __always_inline void call_finish(struct thread *thread, struct pt_regs *ctx, __u64 result)
{
	__u32 op = SHAPE_OP(thread->call.shape);
	__u64 key = 0, life = 0;
	struct site *site = NULL;
	bool made;

	if (op == CALL_ALLOC)
		result = alloc_result(thread, result);
	else if (op == CALL_REALLOC)
		result = realloc_result(thread, result);
	if (op >= CALL_MMAP && result >= ERRORS_FROM)
		result = MAP_FAILED;
	else if (op < CALL_MMAP && result)
		thread->made = 0;
	if (op >= CALL_MMAP)
		made = op != CALL_MUNMAP && result != MAP_FAILED;
	else
		made = result != 0;
	made = made && size_is_wanted(thread->call.size);
	if (made)
		key = site_of_call(thread, ctx, &site);
	if (made && op == CALL_REALLOC)
		life = realloc_life(result);
	if (op >= CALL_MMAP && made && !key)
		site_count_loss(thread, thread->call.size);
	if (op >= CALL_MMAP)
		mapping_report(thread, MAPPING_RETURN, result, key);
	else if (made)
		record_alloc(thread, result, key, site, life);
}

/* Was what the call returns seen inside of it, once, and with its size? */
static __always_inline void inside_compare(const struct thread *thread, __u64 result)
{
	bool right = result ? thread->inside_count == 1 && thread->inside_result == result &&
				      thread->inside_asked == thread->call.size
			    : !thread->inside_count;

	if (thread->inside_count)
		__sync_fetch_and_add(&inside_open, -1ULL);
	__sync_fetch_and_add(right ? &inside_right : &inside_wrong, 1);
}

/* Return of a call. That of a nested call, which some ways of attaching deliver too, is ignored. */
static __always_inline void call_return(struct pt_regs *ctx)
{
	struct thread *thread = thread_find();

	if (!pending_take(thread, PT_REGS_SP(ctx) - RETURN_POPS, false))
		return;
	if (setting_light && SHAPE_OP(thread->call.shape) == CALL_ALLOC &&
	    SHAPE_RESULT(thread->call.shape) == RESULT_INSIDE)
		inside_compare(thread, PT_REGS_RC(ctx));
	if (setting_light)
		call_forget(thread, PT_REGS_RC(ctx));
	call_finish(thread, ctx, PT_REGS_RC(ctx));
	pending_drop(thread);
}

/* An exit of a function is reached. */
static __always_inline void call_leave(struct pt_regs *ctx, __u64 shape)
{
	struct thread *thread = thread_find();
	__u64 result = SHAPE_PTR_ARG(shape) ? ARGUMENT(ctx, 1) : PT_REGS_RC(ctx);

	if (!pending_take(thread, PT_REGS_SP(ctx) + SHAPE_STACK(shape), true))
		return;
	if (SHAPE_RESULT(shape) == RESULT_RETRIED && result >= ERRORS_FROM)
		return;
	call_finish(thread, ctx, result);
	pending_drop(thread);
}

/* An exception sets out: a call that it may leave is taken to have ended without a block. */
static __always_inline void call_throw(struct pt_regs *ctx)
{
	struct thread *thread = thread_find();
	int relation;

	if (!thread || !thread->call.sp ||
	    SHAPE_RESULT(thread->call.shape) != RESULT_POINTER_OR_THROWS)
		return;
	relation = relation_at(ctx, PT_REGS_SP(ctx));
	if (relation == CALL_IS_OVER || relation == CALL_IS_SUSPENDED)
		return;
	if (SHAPE_OP(thread->call.shape) == CALL_REALLOC)
		realloc_restore(thread);
	pending_drop(thread);
	loss_add(LOSS_CALLS_THROWN, 1);
}

#endif
