/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An iterator over the threads of one process, with their registers: nothing is stopped for it. For `tracer leaks` only. */
#include "kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "registers_abi.h"

char LICENSE[] SEC("license") = "GPL";

/* The process, as the kernel numbers it. */
const volatile int setting_process = 0;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct seq_file;
struct bpf_iter_meta {
	struct seq_file *seq;
};
struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};
#pragma clang attribute pop

SEC("iter/task")
int thread_registers(struct bpf_iter__task *ctx)
{
	struct registers_record record = { 0 };
	struct task_struct *task = ctx->task;
	void *registers;

	if (!task || task->tgid != setting_process)
		return 0;
	registers = (void *)bpf_task_pt_regs(task);
	if (!registers)
		return 0;
	record.tid = (__u32)task->pid;
	if (bpf_probe_read_kernel(record.words, sizeof(record.words), registers))
		return 0;
	bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
	return 0;
}
