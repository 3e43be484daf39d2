/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An iterator over the threads of one process, with their registers: nothing is stopped for it. For `tracer leaks` only. */
#include "kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "registers_abi.h"

char LICENSE[] SEC("license") = "GPL";

/* The process, as the pid namespace of the tracer numbers it. */
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

static struct upid *pid_number(struct pid *pid, unsigned int level)
{
	return (void *)pid + bpf_core_field_offset(struct pid, numbers) +
	       level * bpf_core_type_size(struct upid);
}

/* Is the thread of the process? Who reads is the tracer: its own namespace is the one that has given the number. */
static bool task_is_wanted(struct task_struct *task)
{
	struct task_struct *reader = (void *)bpf_get_current_task();
	struct pid *own = BPF_CORE_READ(reader, thread_pid);
	struct pid *pid = BPF_CORE_READ(task, group_leader, thread_pid);
	unsigned int level = BPF_CORE_READ(own, level);

	return level <= BPF_CORE_READ(pid, level) &&
	       BPF_CORE_READ(pid_number(pid, level), nr) == setting_process &&
	       BPF_CORE_READ(pid_number(pid, level), ns) ==
		       BPF_CORE_READ(pid_number(own, level), ns);
}

SEC("iter/task")
int thread_registers(struct bpf_iter__task *ctx)
{
	struct registers_record record = { 0 };
	struct task_struct *task = ctx->task;
	void *registers;

	if (!task || !task_is_wanted(task))
		return 0;
	registers = (void *)bpf_task_pt_regs(task);
	if (!registers)
		return 0;
	record.tid = (__u32)task->pid;
	record.memory_users = (__u32)BPF_CORE_READ(task, mm, mm_users.counter);
	record.signal_stack = BPF_CORE_READ(task, sas_ss_sp);
	if (bpf_probe_read_kernel(record.words, sizeof(record.words), registers))
		return 0;
	bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
	return 0;
}
