/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's own memory (--kernel): tracepoints of its allocators, by the stack of who asked. An object of its own, so that
 * nothing of it is loaded unless it is asked for. Its maps have all their memory from the start: a program that runs inside of an
 * allocator must not allocate.
 */
#include "kernel_maps.bpf.h"

#include <bpf/bpf_core_read.h>

#include "lives.bpf.h"

char LICENSE[] SEC("license") = "GPL";

struct bpf_raw_tracepoint_args {
	__u64 args[0];
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct kmem_cache {
	unsigned int size; /* of a block with what the allocator adds */
	const char *name;
};
#pragma clang attribute pop

/* Pages that may be moved are those of processes and of the page cache: the kernel does not count them as its own. */
#define GFP_MOVABLE 8
/* The largest block of pages has fewer than 2^ORDERS. */
#define ORDERS 16
/* Pages of one kfree_rcu() batch have fewer pointers than this. */
#define BULK_MAX 512
#define STORE_TRIES 4
/* kmalloc(0), and what no allocator returns. */
#define ADDRESS_NONE 16

/* What is allocated: too many to be arguments. */
struct request {
	__u64 key; /* of the block */
	__u64 size;
	__u64 cache; /* struct kmem_cache; 0 = none is known */
	__u32 source; /* enum memory_source */
	__u32 order; /* of pages */
};

/* The target that memory is allocated for; -1 = it is not counted. */
static __always_inline long kernel_target(void)
{
	__u32 process = bpf_get_current_pid_tgid() >> 32, *target;

	if (process == setting_own)
		return -1;
	if (!setting_processes)
		return 0;
	target = bpf_map_lookup_elem(&kernel_processes, &process);
	return target ? (long)*target : -1;
}

/*
 * A part of this CPU's memory that nobody uses. An interrupt that takes one gives it back before it returns, so it makes no difference if it
 * comes between the two.
 */
static __always_inline struct kernel_scratch *scratch_take(void)
{
	struct kernel_scratch *scratch;
	__u32 i, key;

	/* The verifier of 5.10 takes a loop whose counter is in memory for endless. */
	UNROLL
	for (i = 0; i < KERNEL_SCRATCHES; i++) {
		key = i;
		scratch = bpf_map_lookup_elem(&kernel_scratches, &key);
		if (scratch && !scratch->busy) {
			scratch->busy = 1;
			return scratch;
		}
	}
	return NULL;
}

/* Read the stack of the current thread. Returns its hash. */
static __noinline __u64 stack_read(void *ctx, struct kernel_scratch *scratch)
{
	struct stack_record *record = &scratch->record;
	__u64 hash = setting_seed;
	long bytes;
	__u32 i, count;

	bytes = bpf_get_stack(ctx, record->pcs, setting_stack_depth * sizeof(record->pcs[0]), 0);
	if (bytes < 0) {
		kernel_loss(LOSS_STACK_UNREADABLE, 1);
		bytes = 0;
	}
	count = (__u32)bytes / sizeof(record->pcs[0]);
	if (count == setting_stack_depth)
		kernel_loss(LOSS_STACK_TRUNCATED, 1);
	record->count = count;
	for (i = 0; i < STACK_FRAMES_MAX; i++) {
		if (i >= count)
			break;
		hash = mix(hash, record->pcs[i]);
	}
	return hash;
}

/* Puts the site of `scratch->fresh` into the table. NULL if there is no room. */
static __always_inline struct site *site_put(struct kernel_scratch *scratch, const __u64 *key,
					     __u64 cache)
{
	struct kmem_cache *from = (struct kmem_cache *)cache;

	if (cache && bpf_probe_read_kernel_str(scratch->cache.name, sizeof(scratch->cache.name),
					       BPF_CORE_READ(from, name)) > 0)
		bpf_map_update_elem(&kernel_caches, key, &scratch->cache, BPF_ANY);
	bpf_map_update_elem(&kernel_sites, key, &scratch->fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&kernel_sites, key);
}

/* The site of a stack that was not seen before, or one without a stack. */
static __noinline struct site *site_make(struct kernel_scratch *scratch, __u64 *key,
					 const struct request *request)
{
	struct site *fresh = &scratch->fresh, *site;
	int error = bpf_map_update_elem(&kernel_stacks, key, &scratch->record, BPF_NOEXIST);

	fresh->stack = !error || error == -EEXIST ? *key : 0;
	fresh->first_ns = bpf_ktime_get_ns();
	fresh->source = request->source;
	if (!fresh->stack) {
		kernel_loss(LOSS_STACKS_FULL, 1);
		*key = mix(mix(mix(setting_seed, fresh->target_id), request->source),
			   request->cache);
		site = bpf_map_lookup_elem(&kernel_sites, key);
		if (site)
			return site;
	}
	return site_put(scratch, key, request->cache);
}

static __always_inline void block_lose(enum loss loss, __u64 size)
{
	kernel_loss(loss, 1);
	kernel_loss(LOSS_BYTES_UNATTRIBUTED, size);
}

/* Count what is left of a block as freed. False if it is not in the table. */
static __always_inline bool block_take(const __u64 *key, struct kernel_block *ret_block,
				       struct site **ret_site)
{
	struct kernel_block *block = bpf_map_lookup_elem(&kernel_blocks, key);

	if (!block)
		return false;
	*ret_block = *block;
	if (bpf_map_delete_elem(&kernel_blocks, key))
		return false;
	if (*key & KERNEL_KEY_PAGES)
		__sync_fetch_and_add(&kernel_orders[ret_block->order & (ORDERS - 1)], -1);
	*ret_site = bpf_map_lookup_elem(&kernel_sites, &ret_block->block.site);
	if (*ret_site) {
		__sync_fetch_and_add(&(*ret_site)->free_bytes, ret_block->block.size);
		__sync_fetch_and_add(&(*ret_site)->free_objects, 1);
	}
	return true;
}

/* An address is handed out again: nobody has seen the end of what was there. */
static __noinline void block_replace(const __u64 *key)
{
	struct kernel_block old;
	struct site *site;

	if (!block_take(key, &old, &site))
		return;
	kernel_loss(LOSS_ADDRESS_REUSED, 1);
	if (site)
		__sync_fetch_and_add(&site->untimed_objects, 1);
}

static __always_inline int block_store(const __u64 *key, const struct kernel_block *block)
{
	int error = 0, i;

	for (i = 0; i < STORE_TRIES; i++) {
		error = bpf_map_update_elem(&kernel_blocks, key, block, BPF_NOEXIST);
		if (error != -EEXIST)
			return error;
		block_replace(key);
	}
	return error;
}

static __always_inline void kernel_record(void *ctx, const struct request *request,
					  struct kernel_scratch *scratch, __u32 target)
{
	struct kernel_block block = { .order = request->order };
	struct site *site;
	__u64 key = stack_read(ctx, scratch);
	int error;

	key = mix(mix(mix(key, target), request->source), request->cache);
	scratch->fresh.target_id = target;
	site = bpf_map_lookup_elem(&kernel_sites, &key);
	if (!site)
		site = site_make(scratch, &key, request);
	if (!site) {
		block_lose(LOSS_SITES_FULL, request->size);
		return;
	}
	block.block = (struct block){ .site = key,
				      .size = request->size,
				      .life = LIFE_OF(bpf_ktime_get_ns()) };
	error = block_store(&request->key, &block);
	if (error) {
		block_lose(error == -E2BIG ? LOSS_BLOCKS_FULL : LOSS_BLOCKS_REFUSED, request->size);
		return;
	}
	__sync_fetch_and_add(&site->alloc_bytes, request->size);
	__sync_fetch_and_add(&site->alloc_objects, 1);
	if (request->source == SOURCE_PAGES)
		__sync_fetch_and_add(&kernel_orders[request->order & (ORDERS - 1)], 1);
}

static __noinline int kernel_alloc(void *ctx, const struct request *request)
{
	struct kernel_scratch *scratch;
	long target;

	if (kernel_recording != RECORD_ALL || request->key <= ADDRESS_NONE ||
	    request->size < setting_min_size || request->size > setting_max_size)
		return 0;
	target = kernel_target();
	if (target < 0)
		return 0;
	scratch = scratch_take();
	if (!scratch) {
		block_lose(LOSS_PROGRAMS_MISSED, request->size);
		return 0;
	}
	kernel_record(ctx, request, scratch, (__u32)target);
	scratch->busy = 0;
	return 0;
}

int kernel_end(__u64 key);

/* A block ends. A global function: the verifier looks at it only once. Returns whether it was known. */
__noinline int kernel_end(__u64 key)
{
	struct kernel_block block;
	struct site *site;

	if (!block_take(&key, &block, &site))
		return 0;
	if (site)
		site_count_lives(site, 1, block.block.life);
	return 1;
}

/* What kfree() and others get. */
static __always_inline int kernel_free(__u64 address)
{
	if (kernel_recording == RECORD_NOTHING || address <= ADDRESS_NONE)
		return 0;
	if (!kernel_end(address | KERNEL_KEY_SLAB))
		kernel_loss(LOSS_FREE_UNTRACKED, 1);
	return 0;
}

/* Allocations */

SEC("raw_tp")
int kernel_kmalloc(struct bpf_raw_tracepoint_args *ctx)
{
	struct request request = { .key = ctx->args[1],
				   .size = ctx->args[3],
				   .source = SOURCE_KMALLOC };

	return kernel_alloc(ctx, &request);
}

/* Linux 5.18 to 6.0: the cache is before the sizes. */
SEC("raw_tp")
int kernel_kmalloc_cache(struct bpf_raw_tracepoint_args *ctx)
{
	struct request request = { .key = ctx->args[1],
				   .size = ctx->args[4],
				   .source = SOURCE_KMALLOC };

	return kernel_alloc(ctx, &request);
}

SEC("raw_tp")
int kernel_cache(struct bpf_raw_tracepoint_args *ctx)
{
	struct kmem_cache *cache = (struct kmem_cache *)ctx->args[2];
	struct request request = { .key = ctx->args[1],
				   .size = BPF_CORE_READ(cache, size),
				   .cache = ctx->args[2],
				   .source = SOURCE_KMEM_CACHE };

	return kernel_alloc(ctx, &request);
}

/* Before Linux 5.18: sizes, and no cache. */
SEC("raw_tp")
int kernel_cache_sized(struct bpf_raw_tracepoint_args *ctx)
{
	struct request request = { .key = ctx->args[1],
				   .size = ctx->args[3],
				   .source = SOURCE_KMEM_CACHE };

	return kernel_alloc(ctx, &request);
}

SEC("raw_tp")
int kernel_pages(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 order = (__u32)ctx->args[1];
	struct request request = { .key = ctx->args[0] | KERNEL_KEY_PAGES,
				   .source = SOURCE_PAGES,
				   .order = order };

	if (order >= ORDERS || (ctx->args[2] & GFP_MOVABLE))
		return 0;
	request.size = setting_page_bytes << order;
	return kernel_alloc(ctx, &request);
}

/* Each CPU has memory of its own. */
SEC("raw_tp")
int kernel_percpu(struct bpf_raw_tracepoint_args *ctx)
{
	struct request request = { .key = ctx->args[7] | KERNEL_KEY_PERCPU,
				   .size = ctx->args[3] * setting_cpus,
				   .source = SOURCE_PERCPU };

	return kernel_alloc(ctx, &request);
}

/* Before Linux 5.18: without the caller. */
SEC("raw_tp")
int kernel_percpu_old(struct bpf_raw_tracepoint_args *ctx)
{
	struct request request = { .key = ctx->args[6] | KERNEL_KEY_PERCPU,
				   .size = ctx->args[2] * setting_cpus,
				   .source = SOURCE_PERCPU };

	return kernel_alloc(ctx, &request);
}

/* Frees */

SEC("raw_tp")
int kernel_kfree(struct bpf_raw_tracepoint_args *ctx)
{
	return kernel_free(ctx->args[1]);
}

SEC("raw_tp")
int kernel_cache_free(struct bpf_raw_tracepoint_args *ctx)
{
	return kernel_free(ctx->args[1]);
}

SEC("raw_tp")
int kernel_percpu_free(struct bpf_raw_tracepoint_args *ctx)
{
	if (kernel_recording == RECORD_NOTHING || !ctx->args[2])
		return 0;
	if (!kernel_end(ctx->args[2] | KERNEL_KEY_PERCPU))
		kernel_loss(LOSS_FREE_UNTRACKED, 1);
	return 0;
}

/*
 * Some pages of a block are freed before the others: the block was split. Returns false if these are all that is left of it.
 */
static __always_inline bool pages_take(struct kernel_block *block, __u64 bytes)
{
	struct site *site;

	if (bytes >= block->block.size)
		return false;
	site = bpf_map_lookup_elem(&kernel_sites, &block->block.site);
	__sync_fetch_and_add(&block->block.size, -bytes);
	if (site)
		__sync_fetch_and_add(&site->free_bytes, bytes);
	return true;
}

/*
 * Blocks of pages are aligned to their size, and so are their structs: the block that a page is of begins where the lowest bits of the page's
 * number are 0. Of most pages, which are others', nothing is known.
 */
SEC("raw_tp")
int kernel_pages_free(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 page = ctx->args[0], head, key, last = 0;
	__u32 order = (__u32)ctx->args[1], i;
	struct kernel_block *block;

	if (kernel_recording == RECORD_NOTHING || order >= ORDERS)
		return 0;
	for (i = 0; i < ORDERS; i++) {
		if (i < order || !kernel_orders[i])
			continue;
		head = page & ~((setting_page_struct << i) - 1);
		if (head == last)
			continue;
		last = head;
		key = head | KERNEL_KEY_PAGES;
		block = bpf_map_lookup_elem(&kernel_blocks, &key);
		if (!block || block->order < i)
			continue;
		if (!pages_take(block, setting_page_bytes << order))
			kernel_end(key);
		return 0;
	}
	return 0;
}

/* kfree_rcu() frees in bulk, which no other tracepoint shows. */
SEC("raw_tp")
int kernel_bulk_free(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 count = ctx->args[1], *list = (__u64 *)ctx->args[2], address;
	__u32 i;

	for (i = 0; i < BULK_MAX && i < count; i++)
		if (!bpf_probe_read_kernel(&address, sizeof(address), list + i))
			kernel_free(address);
	return 0;
}
