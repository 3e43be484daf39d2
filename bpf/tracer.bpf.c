/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF programs that run at the probes. A probe's cookie holds its call shape, so that
 * all allocator functions share four of them: entry and return of a call that has a result, as one
 * session program or as two, and the entry of a call that only frees, which also serves where something else ends. One more is for the exits of functions
 * whose return is not probed, one for where exceptions are thrown, and one for the USDT probes at which a program
 * reports samples.
 */
#include "kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "call.bpf.h"
#include "compat_shapes.bpf.h"
#include "inside.bpf.h"
#include "price.bpf.h"
#include "process_end.bpf.h"
#include "sample.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* The shape with the target that the call is of; 0 = of none that is traced. */
static __always_inline __u64 shape_with_target(__u64 shape)
{
	struct task_struct *task;
	__u32 *target_id;

	if (!setting_machine_wide || SHAPE_TARGET(shape))
		return shape;
	task = bpf_get_current_task_btf();
	target_id = bpf_task_storage_get(&target_ids, task->group_leader, NULL, 0);
	return target_id && *target_id ? SHAPE_WITH_TARGET(shape, *target_id) : 0;
}

/*
 * From Linux 6.13 on, the stacks of programs are the CPU's. But a program at a uprobe may be preempted by the same one
 * of another thread, which then writes over its variables. No program that contains a tail call is given such a stack,
 * even if none is ever made.
 */
static __always_inline void avoid_cpu_stack(struct pt_regs *ctx)
{
	if (setting_tail_calls)
		bpf_tail_call(ctx, &programs, PROGRAM_COUNT);
}

/* Entry and return in one program. If it returns 1 at the entry, the kernel does not run it at the return. */
SEC("uprobe")
int call_session(struct pt_regs *ctx)
{
	__u64 start_ns = hit_begin(), probed, shape;
	bool wanted;

	avoid_cpu_stack(ctx);
	if (bpf_get_func_ip(ctx) != PT_REGS_IP(ctx)) {
		call_return(ctx);
		hit_end(start_ns, 0, HIT_RETURN);
		return 0;
	}
	probed = bpf_get_attach_cookie(ctx);
	shape = shape_with_target(probed);
	wanted = shape && call_enter(ctx, shape);
	hit_end(start_ns, probed, HIT_CALL);
	return !wanted;
}

SEC("uprobe")
int call_entry(struct pt_regs *ctx)
{
	__u64 start_ns = hit_begin(), probed = probe_shape(ctx), shape;

	avoid_cpu_stack(ctx);
	shape = shape_with_target(probed);
	if (shape)
		call_enter(ctx, shape);
	hit_end(start_ns, probed, HIT_CALL);
	return 0;
}

SEC("uretprobe")
int call_exit(struct pt_regs *ctx)
{
	__u64 start_ns = hit_begin();

	avoid_cpu_stack(ctx);
	call_return(ctx);
	hit_end(start_ns, 0, HIT_RETURN);
	return 0;
}

SEC("uprobe")
int leave_entry(struct pt_regs *ctx)
{
	__u64 start_ns = hit_begin(), shape = probe_shape(ctx);

	avoid_cpu_stack(ctx);
	if (shape)
		call_leave(ctx, shape);
	hit_end(start_ns, shape, HIT_LEAVE);
	return 0;
}

/* The function that is entered ends the block, or the interpreter's code, at `address`. */
static __always_inline void free_enter(struct pt_regs *ctx, __u64 shape, __u64 address)
{
	if (!shape || !address || !recording)
		return;
	interp_site_end(address);
	if (SHAPE_OP(shape) != CALL_CODE_END)
		record_free(shape, ctx, address);
}

SEC("uprobe")
int free_entry(struct pt_regs *ctx)
{
	__u64 start_ns, probed, address;

	/* Once in a process: it has no price. */
	if (setting_stop_process && process_end_enter(ctx))
		return 0;
	start_ns = hit_begin();
	probed = probe_shape(ctx);
	address = call_argument(ctx, SHAPE_PTR_ARG(probed));
	avoid_cpu_stack(ctx);
	free_enter(ctx, shape_with_target(probed), address);
	hit_end(start_ns, probed, SHAPE_OP(probed) == CALL_CODE_END ? HIT_OTHER : HIT_FREE);
	return 0;
}

SEC("uprobe")
int inside_entry(struct pt_regs *ctx)
{
	__u64 start_ns = hit_begin(), probed = probe_shape(ctx), shape;

	avoid_cpu_stack(ctx);
	shape = shape_with_target(probed);
	if (shape)
		inside_enter(ctx, shape);
	hit_end(start_ns, probed, HIT_CALL);
	return 0;
}

SEC("uprobe")
int throw_entry(struct pt_regs *ctx)
{
	__u64 start_ns = hit_begin();

	avoid_cpu_stack(ctx);
	call_throw(ctx);
	hit_end(start_ns, 0, HIT_OTHER);
	return 0;
}

/* The program publishes a sample, or its end. */
static __always_inline void sample_enter(struct pt_regs *ctx, __u64 shape)
{
	struct sample_values values = { 0 };

	if (!shape || !recording || (recording == RECORD_ENDS && SHAPE_OP(shape) == CALL_SAMPLE))
		return;
	if (!sample_read(ctx, shape, &values))
		loss_add(LOSS_RESULTS_UNREADABLE, 1);
	else if (SHAPE_OP(shape) == CALL_SAMPLE_END && values.pointer)
		sample_end(ctx, shape, values.pointer);
	else if (SHAPE_OP(shape) == CALL_SAMPLE && !sample_makes_sense(&values))
		loss_add(LOSS_SAMPLES_SENSELESS, 1);
	else if (SHAPE_OP(shape) == CALL_SAMPLE && size_is_wanted(values.size))
		sample_begin(ctx, shape, &values);
}

SEC("uprobe")
int sample_entry(struct pt_regs *ctx)
{
	__u64 probed = probe_shape(ctx);

	avoid_cpu_stack(ctx);
	/* Only that it ran: on Linux 6.1 there is no stack for the time of its start, and few calls are sampled. */
	hit_end(hit_begin(), probed, HIT_SAMPLE);
	sample_enter(ctx, shape_with_target(probed));
	return 0;
}
