/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples: blocks that the program publishes itself, each with a weight: the bytes that it represents. They have a map
 * of their own, with the number of blocks that each represents, so that a free subtracts exactly what its allocation
 * added.
 */
#ifndef SAMPLE_BPF_H
#define SAMPLE_BPF_H

#include "pending.bpf.h"
#include "sample_argument.bpf.h"

struct sample_values {
	__u64 pointer;
	__u64 size; /* bytes asked for */
	__u64 weight; /* bytes that it represents */
};

/* Read the arguments of a probe of this shape. False if one cannot be read. */
static __always_inline bool sample_read(struct pt_regs *ctx, __u64 shape,
					struct sample_values *values)
{
	__u32 key = SHAPE_SAMPLE_KEY(shape);
	struct sample_site *site = bpf_map_lookup_elem(&sample_sites, &key);

	if (!site || !sample_argument_read((const __u64 *)ctx, &site->arguments[SAMPLE_POINTER],
					   &values->pointer))
		return false;
	return SHAPE_OP(shape) == CALL_SAMPLE_END ||
	       (sample_argument_read((const __u64 *)ctx, &site->arguments[SAMPLE_SIZE],
				     &values->size) &&
		sample_argument_read((const __u64 *)ctx, &site->arguments[SAMPLE_WEIGHT],
				     &values->weight));
}

static __always_inline bool sample_makes_sense(const struct sample_values *values)
{
	return values->pointer && values->size <= values->weight &&
	       values->weight < SAMPLE_WEIGHT_MAX;
}

/* The blocks that a sample represents, rounded to the nearest whole number. */
static __always_inline __u64 sample_objects(const struct sample_values *values)
{
	if (!values->size)
		return 1;
	return (values->weight + values->size / 2) / values->size;
}

/* Take a sample out of the table. False if it is not there, or another CPU took it first. */
static __always_inline bool sample_take(const struct block_key *key,
					struct sampled_block *ret_sample)
{
	struct sampled_block *sample = bpf_map_lookup_elem(&samples, key);
	int error, i;

	if (!sample)
		return false;
	*ret_sample = *sample;
	for (i = 0; i < RECORD_TRIES; i++) {
		error = bpf_map_delete_elem(&samples, key);
		if (error != -EBUSY)
			return !error;
	}
	return false;
}

int sample_free_fields(__u64 address, __u64 program, __u64 seen);

/*
 * End a sample, in numbers; `seen`: the program frees it now. Returns 0 if it is not known. A global function, as
 * block_store_fields.
 */
__noinline int sample_free_fields(__u64 address, __u64 program, __u64 seen)
{
	struct block_key key = { .address = address,
				 .target_id = (__u32)program,
				 .exec_id = program >> 32 };
	struct sampled_block sample;
	struct site *site;

	if (!sample_take(&key, &sample))
		return 0;
	site = site_count_frees(sample.block.site, sample.block.size, sample.objects);
	if (site && seen)
		site_count_lives(site, sample.objects, sample.block.life);
	else if (site)
		__sync_fetch_and_add(&site->untimed_objects, sample.objects);
	return 1;
}

static __always_inline bool sample_free(const struct block_key *key, bool seen)
{
	return sample_free_fields(key->address, key->target_id | (__u64)key->exec_id << 32, seen);
}

/* Put a sample into the table. Returns 0 or a negative errno, after trying again where that can help. */
static __noinline int sample_store(const struct block_key *key, const struct sampled_block *sample)
{
	int error = 0, i;

	for (i = 0; i < RECORD_TRIES; i++) {
		error = bpf_map_update_elem(&samples, key, sample, BPF_NOEXIST);
		if (!error || error == -E2BIG)
			return error;
		if (error == -EEXIST && sample_free(key, false))
			loss_add(LOSS_ADDRESS_REUSED, 1);
	}
	return error;
}

static __noinline void sample_record(struct thread *thread, const struct sample_values *values,
				     __u64 site_key, struct site *site)
{
	struct block_key key =
		block_key_of(thread->call.shape, thread->call.exec_id, values->pointer);
	struct sampled_block sample = {
		.block = { .site = site_key,
			   .size = values->weight,
			   .life = LIFE_OF(bpf_ktime_get_ns()) },
		.objects = sample_objects(values),
	};
	int error = sample_store(&key, &sample);

	if (error) {
		block_count_loss(error, sample.block.size);
		return;
	}
	__sync_fetch_and_add(&site->alloc_bytes, sample.block.size);
	__sync_fetch_and_add(&site->alloc_objects, sample.objects);
	__sync_fetch_and_add(&site->samples, 1);
}

/* Is a sample recorded as a block as well, so that its size is exact? */
static __noinline bool sample_is_block(__u64 shape, __u64 address)
{
	struct block_key key = block_key_of(shape, current_exec_id(), address);

	return bpf_map_lookup_elem(&blocks, &key);
}

/* The thread's present call is not in use. */
static __always_inline void sample_add(struct thread *thread, struct pt_regs *ctx, __u64 shape,
				       const struct sample_values *values)
{
	struct site *site = NULL;
	__u64 site_key;

	if (sample_is_block(shape, values->pointer))
		return;
	thread->call.shape = shape;
	thread->call.exec_id = current_exec_id();
	thread->call.returns_to = 0;
	site_key = site_of_call(thread, ctx, &site);
	if (site)
		sample_record(thread, values, site_key, site);
	else
		site_count_loss(thread, values->weight);
}

/*
 * The program has sampled a block, at `values`. What is inside a recorded call is the business of that one, and what is
 * recorded as a block is known exactly.
 */
static __always_inline void sample_begin(struct pt_regs *ctx, __u64 shape,
					 const struct sample_values *values)
{
	struct thread *thread = thread_find();

	if (!thread)
		thread = thread_create();
	if (!thread) {
		loss_add(LOSS_THREADS_REFUSED, 1);
		return;
	}
	if (!pending_allows(thread, ctx, shape, PT_REGS_SP(ctx)))
		return;
	sample_add(thread, ctx, shape, values);
	pending_drop(thread);
}

/* A sampled block is freed. If it is recorded as a block as well, the probe of its own free function counts that. */
static __always_inline void sample_end(struct pt_regs *ctx, __u64 shape, __u64 address)
{
	struct block_key key = block_key_of(shape, current_exec_id(), address);
	__u64 sp = PT_REGS_SP(ctx);
	struct thread *thread;

	interp_site_end(address);
	if (sample_free(&key, true) || bpf_map_lookup_elem(&blocks, &key))
		return;
	/* Within a recorded call, the block is that call's business. Whether it still runs is not worth a walk here. */
	thread = thread_find();
	if (!thread || (!thread->call.sp && !free_is_repeated(thread, address, sp)))
		loss_add(LOSS_FREE_UNTRACKED, 1);
}

#endif
