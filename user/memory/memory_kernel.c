/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See memory_kernel.h. */
#include "memory/memory_kernel.h"

#include "discover/descendants.h"
#include "system/cgroup_account.h"
#include "system/proc_descriptors.h"

/* Of a thread in the kernel, on x86-64 and ARM64. */
#define KERNEL_STACK (16 << 10)

static void kernel_read_descriptors(pid_t pid, struct memory_kernel *kernel)
{
	struct proc_descriptors descriptors;

	kernel->sockets = kernel->queued_bytes = kernel->pipes = HEAP_UNKNOWN;
	kernel->files = kernel->other_files = HEAP_UNKNOWN;
	if (proc_read_descriptors("/proc", pid, &descriptors))
		return;
	kernel->sockets = descriptors.sockets;
	kernel->queued_bytes = descriptors.queued_bytes;
	kernel->pipes = descriptors.pipes;
	kernel->files = descriptors.files;
	kernel->other_files = descriptors.others;
}

static void kernel_read_group(const struct pid_list *list, struct memory_group *group)
{
	struct cgroup_account account;

	*group = (struct memory_group){ 0 };
	if (cgroup_account_read("/proc", CGROUP_ROOT, list, &account))
		return;
	*group = (struct memory_group){ .known = true,
					.usage_bytes = account.usage,
					.limit_bytes = account.limit,
					.anon_bytes = account.anon,
					.file_bytes = account.file,
					.shmem_bytes = account.shmem,
					.kernel_bytes = account.kernel,
					.slab_bytes = account.slab,
					.socket_bytes = account.socket };
}

void memory_kernel_read_groups(struct memory_report *sum)
{
	struct pid_list list = { 0 };
	size_t i;

	for (i = 0; i < sum->member_count; i++)
		pid_list_add(&list, sum->members[i].pid);
	kernel_read_group(&list, &sum->group);
	pid_list_free(&list);
}

static void kernel_read_descendants(pid_t pid, struct memory_report *report)
{
	struct pid_list list = { 0 };
	struct proc_status status;
	size_t i;

	descendants_list(pid, &list);
	for (i = 0; i < list.count; i++) {
		if (list.pids[i] == pid || proc_read_status("/proc", list.pids[i], &status))
			continue;
		report->children++;
		report->children_rss_bytes += status.rss_bytes;
	}
	pid_list_free(&list);
}

void memory_kernel_read(const struct proc_status *status, struct memory_report *report)
{
	struct pid_list list = { 0 };

	report->kernel.table_bytes = status->table_bytes;
	report->kernel.stack_bytes = status->threads * KERNEL_STACK;
	report->kernel.hugetlb_bytes = status->hugetlb_bytes;
	kernel_read_descriptors(status->pid, &report->kernel);
	pid_list_add(&list, status->pid);
	kernel_read_group(&list, &report->group);
	pid_list_free(&list);
	kernel_read_descendants(status->pid, report);
}
