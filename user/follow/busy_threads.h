/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU times of the targets' threads, so that it is known of what the traps of one take their part. */
#ifndef FOLLOW_BUSY_THREADS_H
#define FOLLOW_BUSY_THREADS_H

#include "model/price.h"
#include "follow/process_table.h"
#include "system/thread_times.h"

/* Note them as the price begins to be measured. */
void busy_threads_read(struct thread_times *times, const struct process_table *table);

/* Find the CPU time since then, and the process, of the thread that the price has as the busiest. */
void busy_threads_find(struct thread_times *times, const struct process_table *table,
		       struct price *price);

#endif
