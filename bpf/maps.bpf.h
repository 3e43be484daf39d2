/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The maps of the BPF programs. These sizes are the smallest; user space sets the real ones before the load.
 */
#ifndef MAPS_BPF_H
#define MAPS_BPF_H

#include "kernel_types.h"
#include <bpf/bpf_helpers.h>
#include "settings.bpf.h"
#include "tracer_abi.h"
#include "unwind.bpf.h"

/* enum recording: RECORD_NOTHING before every probe is in, and after the last report. */
__u32 recording = RECORD_NOTHING;

/* enum inside_mode; and of calls whose return was compared with what was seen inside, how many were the same, and not. */
__u32 inside_mode = INSIDE_VERIFY;
__u64 inside_right = 0, inside_wrong = 0;
/* Calls that were seen inside and whose return is going to record them. */
__u64 inside_open = 0;

/* A call that has begun and not returned. */
struct call {
	__u64 sp; /* stack pointer at its entry; 0 = there is none */
	__u64 shape;
	__u64 size; /* bytes asked for */
	__u64 pointer; /* the pointer argument */
	struct block taken; /* realloc: the old block, out of the table until the return decides */
	__u64 taken_address; /* as in its key; 0 = none */
	__u64 returns_to; /* where it returns to, if its result is read at its exits; else 0 */
	__u64 caller_bp; /* the frame pointer there */
	__u32 exec_id; /* the program that made it */
	__u32 untracked; /* realloc: the old block was not in the table */
	__u64 old_usable; /* realloc: its size, if it was not counted in full; 0 = unknown */
	__u64 interrupted; /* the program has made other calls before it returned */
};

/* Calls that may be pending besides the last one: a power of two. */
#define CALLS_OTHERS_MAX 8

/* What a thread is doing: the allocator calls it is in, and scratch memory for its stack. */
struct thread {
	struct call call;
	/* Pending as well; in no order. There are none if call.sp is 0. */
	struct call others[CALLS_OTHERS_MAX];
	__u32 other_count;
	__u32 examined; /* of others, while a new call is compared with all that are pending */
	__u32 off_stack; /* then: one whose return is probed is pending on another stack */
	__u32 maps; /* then: the new one makes or ends mappings */
	__u64 denied; /* then: the new one is the allocator's own */
	/* the last call of a function that may call another free: its argument, its frame */
	__u64 freed, freed_sp;
	/*
	 * The block that its last call has made: its key's address (0 = none), its life and its site. Another thread may have ended it
	 * and made one there; of the same site, and in the same unit of time, that would be taken for it.
	 */
	__u64 made, made_life, made_site;
	struct site fresh; /* a site that is being made; its counters stay 0 */
	__u64 begins_at; /* the stack pointer at the entry of a new call: in memory, since programs have no more stack */
	__u64 inside_size; /* noted inside of a function that allocates */
	__u64 inside_result; /* and of the pending call, how often a result was seen there, with the last one and its size */
	__u64 inside_asked, inside_count;
	__u64 interp; /* hash of the interpreter's frames; 0 = there are none */
	__u64 name[2]; /* of the thread, as bytes; only with setting_by_thread */
	/* Where a walk to a pending call begins: too large for the BPF stack. */
	struct unwind_from from;
	struct unwind walk;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

/* Where files are probed for all processes at once: the target_id of a process, at its first thread. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u32);
} target_ids SEC(".maps");

/* Threads by their ids: for kernels without task storage, and for the rare moment it is busy. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, struct thread);
} threads_by_id SEC(".maps");

/* A state to copy from: too large for the BPF stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct thread);
} thread_zero SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct block_key);
	__type(value, struct block);
} blocks SEC(".maps");

/* Blocks that programs publish as samples. Apart from the others, which are far more and need no weight. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct block_key);
	__type(value, struct sampled_block);
} samples SEC(".maps");

/* Where programs publish samples: by the key in the shape. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SAMPLE_SITES_MAX);
	__type(key, __u32);
	__type(value, struct sample_site);
} sample_sites SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct site);
} sites SEC(".maps");

/* The names of the threads of sites, by the keys of these. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct site_thread);
} site_threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct stack_record);
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LOSS_COUNT);
	__type(key, __u32);
	__type(value, __u64);
} losses SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, INNER_CALLERS_MAX);
	__type(key, __u32);
	__type(value, struct inner_callers);
} inner_callers SEC(".maps");

/* Files with functions that allocate or free, by the position of their page index (struct unwind_mapping). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ALLOCATOR_FILES_MAX);
	__type(key, __u32);
	__type(value, __u32);
} allocator_files SEC(".maps");

/* By function id: the size of its blocks where it is fixed. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, INNER_CALLERS_MAX);
	__type(key, __u32);
	__type(value, __u64);
} fixed_sizes SEC(".maps");

/* Some 70,000 mapping calls: what a thread makes while user space waits for a CPU on a busy machine, or reports. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 23);
} events SEC(".maps");

/* Programs may be preempted by another one on the same CPU, so even per-CPU counters add atomically. */
static __always_inline void loss_add(enum loss loss, __u64 amount)
{
	__u32 key = loss;
	__u64 *counter = bpf_map_lookup_elem(&losses, &key);

	if (counter)
		__sync_fetch_and_add(counter, amount);
}

#endif
