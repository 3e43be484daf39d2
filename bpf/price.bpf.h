/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tracing costs its targets: while `measuring` is set, each program counts that it ran, and for how long, by thread and
 * function. User space adds what the traps cost.
 */
#ifndef PRICE_BPF_H
#define PRICE_BPF_H

#include "kernel_types.h"
#include <bpf/bpf_helpers.h>
#include "maps.bpf.h"

__u32 measuring = 0;

/* While measuring: all hits; from `hits_max` of them on nothing new is recorded. 0 = no limit. */
__u64 hits_seen = 0, hits_max = 0;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, HITS_MAX);
	__type(key, struct hit_key);
	__type(value, struct hits);
} hits SEC(".maps");

/* When a program begins; 0 = it is not measured. */
static __always_inline __u64 hit_begin(void)
{
	return measuring ? bpf_ktime_get_ns() : 0;
}

/* The figures of a key. If there is no room for another thread, those of all threads without figures of their own. */
static __always_inline struct hits *hits_find(struct hit_key *key)
{
	struct hits none = { 0 };
	struct hits *found = bpf_map_lookup_elem(&hits, key);

	if (found)
		return found;
	bpf_map_update_elem(&hits, key, &none, BPF_NOEXIST);
	found = bpf_map_lookup_elem(&hits, key);
	if (found)
		return found;
	key->thread = 0;
	key->function = 0;
	return bpf_map_lookup_elem(&hits, key);
}

/* Without the result of the addition, which kernels before 5.12 have not. */
static __always_inline void hit_limit(void)
{
	__sync_fetch_and_add(&hits_seen, 1);
	if (hits_max && hits_seen >= hits_max && recording == RECORD_ALL)
		recording = RECORD_ENDS;
}

int hit_count(__u64 start_ns, __u32 function, __u32 kind);

/* A time in which the program was probably preempted is left out of the mean. */
__noinline int hit_count(__u64 start_ns, __u32 function, __u32 kind)
{
	__u64 taken_ns = bpf_ktime_get_ns() - start_ns;
	struct hit_key key = { .thread = (__u32)bpf_get_current_pid_tgid(),
			       .function = (__u16)function,
			       .kind = (__u16)kind };
	struct hits *found = hits_find(&key);

	hit_limit();
	if (!found)
		return 0;
	__sync_fetch_and_add(&found->count, 1);
	if (taken_ns > HIT_NS_MAX)
		return 0;
	__sync_fetch_and_add(&found->timed, 1);
	__sync_fetch_and_add(&found->timed_ns, taken_ns);
	return 0;
}

/* The program that began at `start_ns`, at a probe of this shape, ends. */
static __always_inline void hit_end(__u64 start_ns, __u64 shape, enum hit_kind kind)
{
	if (start_ns)
		hit_count(start_ns, SHAPE_FUNCTION(shape), kind);
}

#endif
