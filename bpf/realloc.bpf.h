/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that end a block and return another one. */
#ifndef REALLOC_BPF_H
#define REALLOC_BPF_H

#include "record.bpf.h"

/* glibc's chunks are multiples of 16 bytes, of 32 at least; the bits below are flags. */
#define CHUNK_FLAGS 7ULL
#define CHUNK_IS_MAPPED 2ULL
#define CHUNK_MIN 32
#define CHUNK_MAX (1ULL << 47)

/*
 * The bytes that the block at `pointer` has room for, as malloc_usable_size counts them; 0 = unknown. The word before the block
 * has the size of its chunk, and that behind a chunk that is no mapping has a bit that is set while it is in use: so the memory
 * of something else is hardly taken for a chunk. A global function, as realloc_life is.
 */
__noinline __u64 chunk_usable(__u64 shape, __u64 pointer)
{
	__u64 word, size;

	if (SHAPE_RESULT(shape) != RESULT_CHUNK || pointer & 15)
		return 0;
	word = thread_read_word(pointer - 8);
	size = word & ~CHUNK_FLAGS;
	if (size & 15 || size < CHUNK_MIN || size > CHUNK_MAX)
		return 0;
	if (word & CHUNK_IS_MAPPED)
		return size - 16;
	return thread_read_word(pointer + size - 8) & 1 ? size - 8 : 0;
}

/*
 * realloc's old block leaves the table at the entry: inside the call it may be freed, and another thread
 * may get its address before the call returns.
 */
static __always_inline void realloc_enter(struct thread *thread)
{
	struct block_key key;

	thread->call.taken_address = 0;
	thread->call.untracked = 0;
	thread->call.taken.life = 0;
	if (!thread->call.pointer)
		return;
	key = block_key_of(thread->call.shape, thread->call.exec_id, thread->call.pointer);
	if (block_take_argument(&key, &thread->call.taken))
		thread->call.taken_address = key.address;
	else
		thread->call.untracked = 1;
	if (thread->call.untracked || thread->call.taken.life & LIFE_ADDED)
		thread->call.old_usable = chunk_usable(thread->call.shape, thread->call.pointer);
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

static __noinline void realloc_count_old(struct thread *thread)
{
	struct block *old = &thread->call.taken;
	struct site *site = site_count_frees(old->site, old->size, 1);

	if (!site)
		return;
	__sync_fetch_and_add(&site->untimed_objects, 1);
	if (thread_has_just_made(thread, thread->call.taken_address, old->life, old->site))
		__sync_fetch_and_add(&site->temporary_objects, 1);
}

/* The old block ends, and its life goes on in the new one, or is over. */
static __always_inline void realloc_finish_old(struct thread *thread)
{
	if (thread->call.taken_address)
		realloc_count_old(thread);
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

/*
 * The call's old block was not recorded, or only what it grew by: what of the new one at `address` is new? Where that is known,
 * it takes the place of the bytes that were asked for. An old block that is out of the wanted sizes was not recorded for that
 * reason, so the new one counts in full.
 */
static __noinline __u64 realloc_count_added(struct thread *thread, __u64 address, __u64 life)
{
	__u64 old = thread->call.old_usable, now, counted = 0;

	if (!(life & LIFE_ADDED) && (!old || !size_is_wanted(old)))
		return life;
	if (life & LIFE_ADDED)
		counted = thread->call.taken.size;
	now = old ? chunk_usable(thread->call.shape, address) : 0;
	if (old && !now)
		now = thread->call.size;
	if (now > old && LIFE_GROWN(life) < LIFE_GROWN_MAX)
		life++;
	if (now)
		counted = now + counted > old ? now + counted - old : 0;
	if (counted < thread->call.size)
		thread->call.size = counted;
	return life | LIFE_ADDED;
}

/*
 * The life of the block at `address` that realloc hands out, which goes on from that of the old one; 0 = there was none. A global
 * function: the verifier looks at its ways through only once.
 */
__noinline __u64 realloc_life(__u64 address)
{
	struct thread *thread = thread_find();
	__u64 life;

	if (!thread)
		return 0;
	life = thread->call.taken.life;
	if (thread->call.untracked)
		life = LIFE_OF(bpf_ktime_get_ns()) | LIFE_UNKNOWN;
	if (thread->call.untracked || life & LIFE_ADDED)
		return realloc_count_added(thread, address, life);
	if (life && thread->call.size > thread->call.taken.size &&
	    LIFE_GROWN(life) < LIFE_GROWN_MAX)
		life++;
	return life;
}

#endif
