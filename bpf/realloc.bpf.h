/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls that end a block and return another one, and what becomes of the old block when they are left without a return.
 */
#ifndef REALLOC_BPF_H
#define REALLOC_BPF_H

#include "record.bpf.h"

/*
 * realloc's old block leaves the table at the entry: inside the call it may be freed, and another thread
 * may get its address before the call returns.
 */
static __always_inline void realloc_enter(struct thread *thread)
{
	struct block_key key;

	thread->taken_address = 0;
	thread->untracked = 0;
	if (!thread->pointer)
		return;
	key = block_key_of(thread->shape, thread->image, thread->pointer);
	if (block_take_argument(&key, &thread->taken))
		thread->taken_address = key.address;
	else
		thread->untracked = 1;
}

/* The old block lives on, with its first site and age. */
static __noinline void realloc_restore(struct thread *thread)
{
	struct block_key key;
	int error;

	if (!thread->taken_address)
		return;
	key = block_key_of(thread->shape, thread->image, 0);
	key.address = thread->taken_address;
	error = block_store(&key, &thread->taken);
	if (error) {
		site_count_free(thread->taken.site, thread->taken.size);
		block_count_loss(error, thread->taken.size);
	}
	thread->taken_address = 0;
}

static __always_inline void realloc_finish_old(struct thread *thread)
{
	if (thread->taken_address)
		site_count_free(thread->taken.site, thread->taken.size);
	else if (thread->untracked)
		loss_add(LOSS_FREE_UNTRACKED, 1);
	thread->taken_address = 0;
}

/* The block that realloc hands out; 0 = none. */
static __always_inline __u64 realloc_result(struct thread *thread, struct pt_regs *ctx)
{
	__u64 result = PT_REGS_RC(ctx);
	bool is_over = false; /* the old block is freed, and there is no new one */

	if (SHAPE_RESULT(thread->shape) == RESULT_IN_PLACE)
		result = result < thread->size ? 0 : thread->pointer;
	else if (!result)
		is_over = !thread->size || SHAPE_RESULT(thread->shape) == RESULT_POINTER_OR_FREED;
	if (result || is_over)
		realloc_finish_old(thread);
	else
		realloc_restore(thread);
	return result;
}

/* The recorded call was left without a return: what it had begun is undone as far as it can be. */
static __noinline void thread_heal(struct thread *thread)
{
	thread->sp = 0;
	if (thread->image != current_image())
		return;
	loss_add(LOSS_RETURNS_UNMATCHED, 1);
	if (SHAPE_OP(thread->shape) == CALL_REALLOC)
		realloc_restore(thread);
}

#endif
