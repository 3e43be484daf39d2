/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that end a block and return another one. */
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

	thread->call.taken_address = 0;
	thread->call.untracked = 0;
	if (!thread->call.pointer)
		return;
	key = block_key_of(thread->call.shape, thread->call.exec_id, thread->call.pointer);
	if (block_take_argument(&key, &thread->call.taken))
		thread->call.taken_address = key.address;
	else
		thread->call.untracked = 1;
}

/* The old block lives on, with its first site and age. */
static __noinline void realloc_restore(struct thread *thread)
{
	struct block_key key;
	int error;

	if (!thread->call.taken_address)
		return;
	key = block_key_of(thread->call.shape, thread->call.exec_id, 0);
	key.address = thread->call.taken_address;
	error = block_store(&key, &thread->call.taken);
	if (error) {
		site_count_free(thread->call.taken.site, thread->call.taken.size);
		block_count_loss(error, thread->call.taken.size);
	}
	thread->call.taken_address = 0;
}

static __always_inline void realloc_finish_old(struct thread *thread)
{
	if (thread->call.taken_address)
		site_count_free(thread->call.taken.site, thread->call.taken.size);
	else if (thread->call.untracked)
		loss_add(LOSS_FREE_UNTRACKED, 1);
	thread->call.taken_address = 0;
}

/* The block that realloc hands out, which has come to `result`; 0 = none. */
static __always_inline __u64 realloc_result(struct thread *thread, __u64 result)
{
	bool is_over = false; /* the old block is freed, and there is no new one */

	if (SHAPE_RESULT(thread->call.shape) == RESULT_IN_PLACE)
		result = result < thread->call.size ? 0 : thread->call.pointer;
	else if (!result)
		is_over = !thread->call.size ||
			  SHAPE_RESULT(thread->call.shape) == RESULT_POINTER_OR_FREED;
	if (result || is_over)
		realloc_finish_old(thread);
	else
		realloc_restore(thread);
	return result;
}

#endif
