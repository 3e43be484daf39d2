/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The traced processes. Each has a slot; the slot's number plus one is its target_id, which
 * identifies it in BPF programs and their maps. A slot is reused only when no map holds anything of
 * its last process.
 */
#ifndef FOLLOW_PROCESS_TABLE_H
#define FOLLOW_PROCESS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "discover/process.h"
#include "system/cgroup.h"

/* The target_id travels in 16 bits of a probe's cookie. */
#define PROCESS_TABLE_MAX 65534

struct process_slot {
	struct process *process; /* owned */
	bool root; /* named by the user: tracing may end with it */
	bool reusable; /* it has ended, and no map holds anything of it */
};

struct process_table {
	struct process_slot *slots; /* by target_id - 1 */
	size_t count, capacity;
	size_t reusable_count;
	size_t roots_running;
	struct table by_pid; /* struct process */
	struct table descendants; /* pids of descendants of traced processes, traced or not */
	int epoll; /* over the pidfds */
};

/* Returns 0 or a negative errno. Close with process_table_close, which also frees the processes. */
int process_table_open(struct process_table *table);
void process_table_close(struct process_table *table);

/*
 * The ended process whose slot process_table_add will take next, so that the caller can drop
 * references to it; NULL = a new slot.
 */
struct process *process_table_reused(const struct process_table *table);

/*
 * Take ownership of a process, assign it a target_id, and watch for its end. False if there is no
 * slot: the caller keeps it.
 */
bool process_table_add(struct process_table *table, struct process *process, bool root);

/* The process with this target_id, running or ended; NULL if there is none. */
struct process *process_table_get(const struct process_table *table, uint32_t target_id);

/* The slot of a process of the table. */
struct process_slot *process_table_slot(const struct process_table *table,
					const struct process *process);

/* The running process with this pid, or NULL. */
struct process *process_table_find(const struct process_table *table, uint32_t pid);

/* The number of running processes. */
size_t process_table_running(const struct process_table *table);

/* Count the open files of the running processes, for a snapshot. */
void process_table_count_files(const struct process_table *table);

/* Append the pids of the running processes. */
void process_table_list(const struct process_table *table, struct pid_list *list);

/* Is the process traced, or a descendant of one that is? */
bool process_table_is_descendant(const struct process_table *table, uint32_t pid);
void process_table_add_descendant(struct process_table *table, uint32_t pid);
/*
 * A descendant cannot be traced. False if it was counted before: one process counts once, whatever
 * it executes.
 */
bool process_table_miss_descendant(struct process_table *table, uint32_t pid);
void process_table_remove_descendant(struct process_table *table, uint32_t pid);
void process_table_forget_descendants(struct process_table *table);

/* A descriptor that becomes readable when a process ends; owned by the table. */
int process_table_fd(const struct process_table *table);

/* Find ended processes for which process_table_end was not called yet; writes at most `limit`. */
size_t process_table_find_ended(const struct process_table *table, struct process **ret_processes,
				size_t limit);

/*
 * Have all processes ended, including those not passed to process_table_end yet? False if a single
 * look cannot show it.
 */
bool process_table_has_ended(const struct process_table *table);

/* Mark a process as ended. It keeps its slot. */
void process_table_end(struct process_table *table, struct process *process);

/*
 * No map holds anything of an ended process any more: release its slot. A process that the user has
 * named keeps its slot, so that it stays listed.
 */
void process_table_release(struct process_table *table, const struct process *process);

#endif
