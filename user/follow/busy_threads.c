/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See busy_threads.h. */
#include "follow/busy_threads.h"

void busy_threads_read(struct thread_times *times, const struct process_table *table)
{
	size_t i;

	thread_times_free(times);
	for (i = 0; i < table->count; i++)
		if (!table->slots[i].process->target.exited)
			thread_times_read(times, table->slots[i].process->target.pid);
}

void busy_threads_find(struct thread_times *times, const struct process_table *table,
		       struct price *price)
{
	size_t i;

	for (i = 0; i < table->count && price->busiest_thread && !price->busiest_cpu_ns; i++) {
		const struct target *target = &table->slots[i].process->target;

		if (target->exited)
			continue;
		price->busiest_cpu_ns =
			thread_times_since(times, target->pid, (pid_t)price->busiest_thread);
		if (price->busiest_cpu_ns && table->count > 1)
			price->busiest_pid = (uint32_t)target->pid;
	}
}
