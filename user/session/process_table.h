/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The traced processes. Each has a slot, whose number plus one is its target_id: what the BPF programs and their maps know it
 * by. A slot is given to another process only when no map holds anything of its last one.
 */
#ifndef SESSION_PROCESS_TABLE_H
#define SESSION_PROCESS_TABLE_H

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
	bool root; /* named by the user: its end may be the end of tracing */
	bool reusable; /* it has ended and no map holds anything of it */
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

/* Returns 0 or a negative errno. Close with process_table_close, which frees the processes. */
int process_table_open(struct process_table *table);
void process_table_close(struct process_table *table);

/* The ended process whose slot process_table_add takes next, so that nothing refers to it; NULL = a new slot. */
struct process *process_table_reused(const struct process_table *table);

/* Take a process over, give it a target_id, and watch for its end. False if there is no slot: it stays the caller's. */
bool process_table_add(struct process_table *table, struct process *process, bool root);

/* The process with a target_id, ended or not; NULL if there is none. */
struct process *process_table_get(const struct process_table *table, uint32_t target_id);

/* The slot of a process of the table. */
struct process_slot *process_table_slot(const struct process_table *table,
					const struct process *process);

/* The running process with this pid, or NULL. */
struct process *process_table_find(const struct process_table *table, uint32_t pid);

/* Processes that have not ended. */
size_t process_table_running(const struct process_table *table);

/* Count the open files of these, for a snapshot. */
void process_table_count_files(const struct process_table *table);

/* Append the pids of these. */
void process_table_list(const struct process_table *table, struct pid_list *list);

/* Is the process traced, or a descendant of one that is? */
bool process_table_is_descendant(const struct process_table *table, uint32_t pid);
void process_table_add_descendant(struct process_table *table, uint32_t pid);
/* A descendant cannot be traced. False if it was missed before: it is one process, whatever it executes. */
bool process_table_miss_descendant(struct process_table *table, uint32_t pid);
void process_table_remove_descendant(struct process_table *table, uint32_t pid);
void process_table_forget_descendants(struct process_table *table);

/* A descriptor that is readable when a process has ended; it stays the table's. */
int process_table_fd(const struct process_table *table);

/* Processes that have ended and that process_table_end was not called for: at most `limit` are written. */
size_t process_table_find_ended(const struct process_table *table, struct process **ret_processes,
				size_t limit);

/* Have all processes ended, also those that process_table_end was not called for? False where it is not one look to see. */
bool process_table_has_ended(const struct process_table *table);

/* The process has ended. It stays in its slot. */
void process_table_end(struct process_table *table, struct process *process);

/* No map holds anything of an ended process. The slot of one that the user has named stays its own, so that it is listed. */
void process_table_release(struct process_table *table, const struct process *process);

#endif
