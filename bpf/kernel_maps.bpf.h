/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The maps and settings of kernel_memory.bpf.c. These sizes are the smallest; user space sets the real ones before the load. */
#ifndef KERNEL_MAPS_BPF_H
#define KERNEL_MAPS_BPF_H

#include "kernel_types.h"
#include <bpf/bpf_helpers.h>
#include "tracer_abi.h"

/* Settings: the verifier takes them for constants. */
const volatile __u64 setting_min_size = 0;
const volatile __u64 setting_max_size = ~0ULL;
const volatile __u64 setting_seed = 0; /* of the keys of sites */
const volatile __u64 setting_page_bytes = 4096;
const volatile __u64 setting_page_struct = 64; /* bytes that describe a page, a power of two */
const volatile __u64 setting_cpus = 1; /* that percpu memory is for */
const volatile __u32 setting_stack_depth = STACK_FRAMES_MAX;
const volatile __u32 setting_own = 0; /* the tracer's process, whose memory is not counted */
const volatile bool setting_processes = false; /* only memory that certain processes ask for */

/* enum recording */
__u32 kernel_recording = RECORD_NOTHING;

/* Blocks of pages in the table, by order. */
__s64 kernel_orders[16] = { 0 };

/* Memory for what is too large for the BPF stack. A thread, and interrupts of three kinds, may be at it on one CPU. */
#define KERNEL_SCRATCHES 4

struct kernel_scratch {
	__u64 busy;
	struct stack_record record;
	struct site fresh; /* its counters stay 0 */
	struct kernel_cache cache;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, KERNEL_SCRATCHES);
	__type(key, __u32);
	__type(value, struct kernel_scratch);
} kernel_scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct kernel_block);
} kernel_blocks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct site);
} kernel_sites SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct stack_record);
} kernel_stacks SEC(".maps");

/* By the keys of sites. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct kernel_cache);
} kernel_caches SEC(".maps");

/* With setting_processes: target_ids by the ids of processes in the first pid namespace. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} kernel_processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LOSS_COUNT);
	__type(key, __u32);
	__type(value, __u64);
} kernel_losses SEC(".maps");

static __always_inline void kernel_loss(enum loss loss, __u64 amount)
{
	__u32 key = loss;
	__u64 *counter = bpf_map_lookup_elem(&kernel_losses, &key);

	if (counter)
		__sync_fetch_and_add(counter, amount);
}

#endif
