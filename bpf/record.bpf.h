/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record path: every source of memory ends in record_alloc and record_free. A counter moves only when
 * the block itself was stored or removed, so that alloc - free = in use holds whatever is lost.
 */
#ifndef RECORD_BPF_H
#define RECORD_BPF_H

#include "interp_site.bpf.h"
#include "lives.bpf.h"
#include "relation.bpf.h"
#include "share.bpf.h"
#include "site_key.bpf.h"

/*
 * Before Linux 6.4, what map operations return is an int: the upper half of the register is not of its sign. So their
 * results are kept in ints here.
 */

/* How often a map operation that the kernel refused for the moment is tried. */
#define RECORD_TRIES 8

static __always_inline struct block_key block_key_of(__u64 shape, __u32 exec_id, __u64 address)
{
	return (struct block_key){ .address = address | (shape & SHAPE_NAMED ? NAMED_ADDRESS : 0),
				   .target_id = SHAPE_TARGET(shape),
				   .exec_id = exec_id };
}

/* Announce the site to user space, which resolves its stack while the libraries are still mapped. */
static __always_inline void site_announce(__u64 key, __u32 target_id)
{
	struct event_site event = { .kind = EVENT_SITE, .target_id = target_id, .site = key };

	if (bpf_ringbuf_output(&events, &event, sizeof(event), 0))
		loss_add(LOSS_EVENTS_DROPPED, 1);
}

/*
 * Store the walked stack under the key of its site: no other one shares it, so it can go when the site goes. Returns the key,
 * or 0 if the table is full.
 */
static __always_inline __u64 stack_store(const struct unwind *walk, const __u64 *site)
{
	int error = bpf_map_update_elem(&stacks, site, &walk->record, BPF_NOEXIST);

	return !error || error == -EEXIST ? *site : 0;
}

/* Read what the current thread is called. */
static __always_inline void site_read_thread(struct thread *thread)
{
	if (!setting_by_thread)
		return;
	/* Some kernels leave what is behind the name as it is. */
	thread->name[0] = 0;
	thread->name[1] = 0;
	bpf_get_current_comm(thread->name, sizeof(thread->name));
}

/* The key of a site of all threads, for those of this name. */
static __always_inline __u64 site_key_for(const struct thread *thread, __u64 key)
{
	return setting_by_thread ? site_key_of_thread(key, thread->name) : key;
}

/* Put a site into the table, after its thread's name: who finds the site finds that. True if it is new. */
static __always_inline bool site_put(struct thread *thread, const __u64 *key,
				     const struct site *site)
{
	if (setting_by_thread && bpf_map_update_elem(&site_threads, key, thread->name, BPF_ANY))
		loss_add(LOSS_THREADS_UNNAMED, 1);
	if (!bpf_map_update_elem(&sites, key, site, BPF_NOEXIST))
		return true;
	if (setting_by_thread && !bpf_map_lookup_elem(&sites, key))
		bpf_map_delete_elem(&site_threads, key);
	return false;
}

/* The site with this key, unless it is that of another process, program or function. */
static __always_inline struct site *site_find(struct thread *thread, const __u64 *key)
{
	struct site *site = bpf_map_lookup_elem(&sites, key);

	if (site && site_key_holds(site, SHAPE_TARGET(thread->call.shape), thread->call.exec_id,
				   SHAPE_FUNCTION(thread->call.shape)))
		return site;
	return NULL;
}

/*
 * The site of a stack that was not seen before. A stack that finds no room, or whose key is 0, goes to a site without
 * frames, one per function, program and thread's name (if these are apart), so that its bytes stay in the totals. NULL if there is no room for that one either.
 */
static __noinline struct site *site_create(struct thread *thread, __u64 *key)
{
	struct site *site = &thread->fresh, *found;

	site->first_ns = bpf_ktime_get_ns();
	site->target_id = SHAPE_TARGET(thread->call.shape);
	site->exec_id = thread->call.exec_id;
	site->function = SHAPE_FUNCTION(thread->call.shape);
	site->source = SHAPE_SOURCE(thread->call.shape);
	site->stack = *key ? stack_store(&thread->walk, key) : 0;
	if (site->stack && thread->interp)
		interp_site_store(site->stack);
	if (!site->stack) {
		*key = site_key_end(site_key_begin(setting_seed, site->target_id, site->exec_id), 0,
				    SHAPE_FUNCTION(thread->call.shape) | SITE_WITHOUT_STACK);
		*key = site_key_for(thread, *key);
		found = site_find(thread, key);
		if (found || !share_has_room(site->target_id, false))
			return found;
	}
	if (site_put(thread, key, site)) {
		share_add(site->target_id, site->stack != 0);
		site_announce(*key, site->target_id);
	}
	return site_find(thread, key);
}

/* Which loss a walk's end is; LOSS_COUNT for none. */
static __always_inline enum loss stack_loss(__u32 end)
{
	if (end == UNWIND_END_ROOT)
		return LOSS_COUNT;
	if (end == UNWIND_END_DEPTH)
		return LOSS_STACK_TRUNCATED;
	if (end == UNWIND_END_UNREADABLE)
		return LOSS_STACK_UNREADABLE;
	if (end == UNWIND_END_NO_MAPPING)
		return LOSS_STACK_UNMAPPED;
	if (end == UNWIND_END_ANONYMOUS)
		return LOSS_STACK_JIT;
	if (end == UNWIND_END_NO_ROWS)
		return LOSS_STACK_NO_ROWS;
	return end == UNWIND_END_NO_TABLE ? LOSS_STACK_NO_TABLE : LOSS_STACK_BROKEN;
}

/*
 * Count an imperfect stack at each call. stack_count_without_tables counts those that end in, or lead through, code
 * without tables, when their site is new: they do so at every call.
 */
static __always_inline void stack_count_losses(struct unwind *walk)
{
	__u64 loss;

	if (setting_unwind && walk->flags & UNWIND_BY_BP)
		walk->record.end = UNWIND_END_NO_TABLE;
	loss = stack_loss(walk->record.end);
	if (loss < LOSS_COUNT && loss != LOSS_STACK_NO_ROWS)
		loss_add(loss, 1);
	if (walk->flags & UNWIND_GUESSED_ON)
		walk->record.end |= UNWIND_END_GUESSED;
}

/* Stacks that end in, or lead through, code without tables. The site is new. */
static __always_inline void stack_count_without_tables(const struct unwind *walk)
{
	if ((walk->record.end & ~(__u32)UNWIND_END_GUESSED) == UNWIND_END_NO_ROWS)
		loss_add(LOSS_STACK_NO_ROWS, 1);
	if (walk->record.end & UNWIND_END_GUESSED)
		loss_add(LOSS_STACK_GUESSED, 1);
}

/*
 * The site of the call that `thread` returns from, at registers `ctx`. Returns its key, 0 if the site table
 * is full.
 */
static __noinline __u64 site_of_call(struct thread *thread, struct pt_regs *ctx,
				     struct site **ret_site)
{
	struct unwind_from *from = &thread->from;
	bool samples = SHAPE_OP(thread->call.shape) == CALL_SAMPLE;
	enum loss loss = LOSS_STACKS_FULL;
	__u64 key, wanted;

	from->ip = PT_REGS_IP(ctx);
	from->sp = PT_REGS_SP(ctx);
	from->bp = PT_REGS_FP(ctx);
	from->target_id = SHAPE_TARGET(thread->call.shape);
	from->exec_id = thread->call.exec_id;
	from->depth = setting_stack_depth;
	from->flags = setting_unwind ? 0 : UNWIND_BY_BP;
	if (samples) {
		from->lr = RETURN_REGISTER(ctx);
		from->flags |= UNWIND_EXACT;
	}
	/* An exit may be anywhere in the function: the registers of its caller are those of the entry. */
	if (thread->call.returns_to) {
		from->ip = thread->call.returns_to;
		from->sp = thread->call.sp + RETURN_POPS;
		from->bp = thread->call.caller_bp;
	}
	thread->walk.hash = site_key_begin(setting_seed, from->target_id, from->exec_id);
	thread_walk_stack(thread, from);
	/* All frames are taken for return addresses, which are behind the call. */
	if (samples)
		thread->walk.record.pcs[0]++;
	stack_count_losses(&thread->walk);
	thread->interp = interp_site_read(from->target_id, setting_stack_depth);
	site_read_thread(thread);
	key = site_key_end(thread->walk.hash, thread->interp, SHAPE_FUNCTION(thread->call.shape));
	key = site_key_for(thread, key);
	*ret_site = site_find(thread, &key);
	if (*ret_site)
		return key;
	/* Two stacks have one key: the later one is counted without its frames. */
	if (bpf_map_lookup_elem(&sites, &key)) {
		loss_add(LOSS_SITES_CLASHED, 1);
		key = 0;
	}
	stack_count_without_tables(&thread->walk);
	wanted = key;
	if (!share_has_room(SHAPE_TARGET(thread->call.shape), true)) {
		loss = LOSS_STACKS_OVER_SHARE;
		key = 0;
	}
	*ret_site = site_create(thread, &key);
	if (*ret_site && wanted && !(*ret_site)->stack)
		loss_add(loss, 1);
	return *ret_site ? key : 0;
}

static __always_inline void site_count_alloc(struct site *site, __u64 size)
{
	__sync_fetch_and_add(&site->alloc_bytes, size);
	__sync_fetch_and_add(&site->alloc_objects, 1);
}

/* Returns the site, or NULL. */
static __always_inline struct site *site_count_frees(__u64 key, __u64 size, __u64 objects)
{
	struct site *site = bpf_map_lookup_elem(&sites, &key);

	if (!site)
		return NULL;
	__sync_fetch_and_add(&site->free_bytes, size);
	__sync_fetch_and_add(&site->free_objects, objects);
	return site;
}

/* A block ends, and its lifespan is not known, or goes on at another site. */
static __always_inline void site_count_free(__u64 key, __u64 size)
{
	struct site *site = site_count_frees(key, size, 1);

	if (site)
		__sync_fetch_and_add(&site->untimed_objects, 1);
}

/* Has the thread made this block by its last call? From here on, that call is not its last one. */
static __always_inline bool thread_has_just_made(struct thread *thread, __u64 address, __u64 life,
						 __u64 site)
{
	bool just = thread->made == address && thread->made_life == life &&
		    thread->made_site == site;

	thread->made = 0;
	return just;
}

int record_free_block(__u64 site_key, __u64 size, __u64 life, __u64 address);

/* The program has freed the block with this address in its key. A global function, as block_store_fields. */
__noinline int record_free_block(__u64 site_key, __u64 size, __u64 life, __u64 address)
{
	struct site *site = site_count_frees(site_key, size, 1);
	struct thread *thread = thread_find();
	bool temporary = thread && thread_has_just_made(thread, address, life, site_key);

	if (!site)
		return 0;
	if (temporary)
		__sync_fetch_and_add(&site->temporary_objects, 1);
	site_count_lives(site, 1, life);
	return 0;
}

/* Is a block of this size to be recorded? */
static __always_inline bool size_is_wanted(__u64 size)
{
	return size >= setting_min_size && size <= setting_max_size;
}

/* A block finds no site, because the table is full, or its process has its share. */
static __always_inline void site_count_loss(const struct thread *thread, __u64 size)
{
	bool room = share_has_room(SHAPE_TARGET(thread->call.shape), false);

	loss_add(room ? LOSS_SITES_FULL : LOSS_SITES_OVER_SHARE, 1);
	loss_add(LOSS_BYTES_UNATTRIBUTED, size);
}

/* Take a block out of the table. False if it is not there, or another CPU took it first. */
static __always_inline bool block_take(struct block_key *key, struct block *ret_block)
{
	struct block *block = bpf_map_lookup_elem(&blocks, key);
	int error, i;

	if (!block)
		return false;
	*ret_block = *block;
	for (i = 0; i < RECORD_TRIES; i++) {
		error = bpf_map_delete_elem(&blocks, key);
		if (error != -EBUSY)
			return !error;
	}
	return false;
}

/*
 * The same for a block that a function has got as an argument: a named function may have allocated what another one
 * frees, and the other way round. `key` becomes that of the block.
 */
static __always_inline bool block_take_argument(struct block_key *key, struct block *ret_block)
{
	if (block_take(key, ret_block))
		return true;
	if (!setting_named)
		return false;
	key->address ^= NAMED_ADDRESS;
	return block_take(key, ret_block);
}

/* End the block that the table has for an address which was handed out again. */
static __noinline void block_replace(struct block_key *key)
{
	struct block old;

	if (!block_take(key, &old))
		return;
	site_count_free(old.site, old.size);
	loss_add(LOSS_ADDRESS_REUSED, 1);
}

/*
 * Put a block into the table, in numbers. Returns 0 or a negative errno, after trying again where that can help. A global
 * function: the verifier looks at its loops only once.
 */
__noinline int block_store_fields(__u64 address, __u64 program, __u64 site, __u64 size, __u64 life)
{
	struct block_key key = { .address = address,
				 .target_id = (__u32)program,
				 .exec_id = program >> 32 };
	struct block block = { .site = site, .size = size, .life = life };
	__u64 how = setting_light ? BPF_ANY : BPF_NOEXIST;
	int error = 0, i;

	for (i = 0; i < RECORD_TRIES; i++) {
		error = bpf_map_update_elem(&blocks, &key, &block, how);
		if (!error || error == -E2BIG)
			return error;
		if (error == -EEXIST)
			block_replace(&key);
	}
	return error;
}

static __always_inline int block_store(const struct block_key *key, const struct block *block)
{
	return block_store_fields(key->address, key->target_id | (__u64)key->exec_id << 32,
				  block->site, block->size, block->life);
}

static __always_inline void block_count_loss(int error, __u64 size)
{
	loss_add(error == -E2BIG ? LOSS_BLOCKS_FULL : LOSS_BLOCKS_REFUSED, 1);
	loss_add(LOSS_BYTES_UNATTRIBUTED, size);
}

/*
 * A new block at `address`, as large as the call that `thread` returns from asked for; `site` is NULL if the table is full.
 * `life` is 0 for one that is born now. A call may hand out a block that the program has allocated in the course of it, as hooks
 * do: that is counted.
 */
static __always_inline void record_alloc(struct thread *thread, __u64 address, __u64 site_key,
					 struct site *site, __u64 life)
{
	struct block_key key = block_key_of(thread->call.shape, thread->call.exec_id, address);
	struct block block = { .size = thread->call.size, .site = site_key };
	int error;

	if (!site) {
		site_count_loss(thread, block.size);
		return;
	}
	if (thread->call.interrupted && bpf_map_lookup_elem(&blocks, &key))
		return;
	block.life = life ? life : LIFE_OF(bpf_ktime_get_ns());
	error = block_store(&key, &block);
	if (error) {
		block_count_loss(error, block.size);
		return;
	}
	site_count_alloc(site, block.size);
	thread->made = key.address;
	thread->made_life = block.life;
	thread->made_site = site_key;
}

/* Is this call of a free function, at its probed instruction, one of the allocator's own? */
static __noinline bool free_is_inner(__u64 shape, struct pt_regs *ctx, __u64 sp)
{
	__u32 function = SHAPE_FUNCTION(shape);
	struct inner_callers *callers = bpf_map_lookup_elem(&inner_callers, &function);
	__s64 distance;

	if (!callers || callers->low == callers->high)
		return false;
	distance = (__s64)(return_address(ctx, sp) - PT_REGS_IP(ctx));
	return distance >= callers->low && distance < callers->high;
}

/*
 * A function that may end its block by calling another free function: that one finds the block gone and must not take
 * it for an unknown one.
 */
static __noinline void free_begin(__u64 address, __u64 sp)
{
	struct thread *thread = thread_find();

	if (!thread)
		thread = thread_create();
	if (!thread)
		return;
	thread->freed = address;
	thread->freed_sp = sp;
}

/* Is this free, with its frame at `sp`, called by the function that has just ended the same block? */
static __always_inline bool free_is_repeated(struct thread *thread, __u64 address, __u64 sp)
{
	if (thread->freed != address || sp > thread->freed_sp)
		return false;
	thread->freed = 0;
	return true;
}

/* Does an allocating function free in the course of its work? */
static __always_inline bool free_is_served(struct thread *thread, struct pt_regs *ctx, __u64 sp)
{
	enum relation relation = thread->call.sp ? relation_at(ctx, sp) : CALL_IS_OVER;

	return relation == CALL_IS_SERVED || relation == CALL_IS_UNCLEAR;
}

/* The block at `address` ends, at registers `ctx` of the entry of a call. */
static __always_inline void record_free(__u64 shape, struct pt_regs *ctx, __u64 address)
{
	__u64 sp = PT_REGS_SP(ctx) + SHAPE_STACK(shape);
	struct block_key key = block_key_of(shape, current_exec_id(), address);
	struct block block;
	struct thread *thread;
	bool known = block_take_argument(&key, &block);

	if (known)
		record_free_block(block.site, block.size, block.life, key.address);
	/* An allocator that frees inside another call of its own ends a block that was taken already. */
	thread = known ? NULL : thread_find();
	if (thread && (free_is_repeated(thread, address, sp) || free_is_served(thread, ctx, sp)))
		known = true;
	if (SHAPE_RESULT(shape) == RESULT_FREES_INSIDE)
		free_begin(address, sp);
	if (known || free_is_inner(shape, ctx, sp))
		return;
	loss_add(LOSS_FREE_UNTRACKED, 1);
	if (thread)
		thread->made = 0;
}

/* The block at `address` ends, if it was recorded. */
static __always_inline void record_forget(__u64 shape, __u64 address)
{
	struct block_key key = block_key_of(shape, current_exec_id(), address);
	struct block block;

	if (block_take_argument(&key, &block))
		site_count_free(block.site, block.size);
}

#endif
