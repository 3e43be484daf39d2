/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For kernels before 5.15, whose probes have no cookies: each probe gets a small program of its own, which leaves the call shape
 * for the thread and goes on to the common one.
 */
#ifndef COMPAT_SHAPES_BPF_H
#define COMPAT_SHAPES_BPF_H

#include "maps.bpf.h"

/* For kernels without cookies: the shape of the probe that a thread has just hit, and the BPF programs that read it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u64);
} shapes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, PROGRAM_COUNT);
	__type(key, __u32);
	__type(value, __u32);
} programs SEC(".maps");

/* The call shape of the probe; 0 if it could not be kept: the call is not followed, and counts as a loss. */
static __always_inline __u64 probe_shape(struct pt_regs *ctx)
{
	__u64 *shape;
	__u32 id;

	if (setting_cookies)
		return bpf_get_attach_cookie(ctx);
	id = (__u32)bpf_get_current_pid_tgid();
	shape = bpf_map_lookup_elem(&shapes, &id);
	if (shape)
		return *shape;
	loss_add(LOSS_THREADS_REFUSED, 1);
	return 0;
}

/*
 * Kernels without cookies get a copy of one of these for each probe. It has the shape of the probe inside and
 * leaves it for the program that it goes on to.
 */
static __always_inline void shape_stash(void)
{
	__u32 id = (__u32)bpf_get_current_pid_tgid();
	__u64 shape;

	asm volatile("%0 = %1 ll" : "=r"(shape) : "i"(COOKIE_PLACEHOLDER));
	if (bpf_map_update_elem(&shapes, &id, &shape, BPF_ANY))
		bpf_map_delete_elem(&shapes, &id);
}

SEC("uprobe")
int call_shape(struct pt_regs *ctx)
{
	shape_stash();
	bpf_tail_call(ctx, &programs, PROGRAM_CALL_ENTRY);
	return 0;
}

SEC("uprobe")
int free_shape(struct pt_regs *ctx)
{
	shape_stash();
	bpf_tail_call(ctx, &programs, PROGRAM_FREE_ENTRY);
	return 0;
}

SEC("uprobe")
int leave_shape(struct pt_regs *ctx)
{
	shape_stash();
	bpf_tail_call(ctx, &programs, PROGRAM_LEAVE_ENTRY);
	return 0;
}

SEC("uprobe")
int sample_shape(struct pt_regs *ctx)
{
	shape_stash();
	bpf_tail_call(ctx, &programs, PROGRAM_SAMPLE_ENTRY);
	return 0;
}

#endif
