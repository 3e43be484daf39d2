/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See process_table.h. */
#include "follow/process_table.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/memory.h"

/* Ends that are handled in one turn. */
#define ENDED_AT_ONCE 64

int process_table_open(struct process_table *table)
{
	*table = (struct process_table){ .epoll = epoll_create1(EPOLL_CLOEXEC) };
	return table->epoll < 0 ? -errno : 0;
}

void process_table_close(struct process_table *table)
{
	size_t i;

	for (i = 0; i < table->count; i++)
		process_free(table->slots[i].process);
	free(table->slots);
	table_free(&table->by_pid);
	table_free(&table->descendants);
	if (table->epoll >= 0)
		close(table->epoll);
	*table = (struct process_table){ .epoll = -1 };
}

/* The first slot that may be reused; `count` if there is none. */
static size_t process_table_free_slot(const struct process_table *table)
{
	size_t at = 0;

	if (!table->reusable_count)
		return table->count;
	while (!table->slots[at].reusable)
		at++;
	return at;
}

struct process *process_table_reused(const struct process_table *table)
{
	size_t at = process_table_free_slot(table);

	return at < table->count ? table->slots[at].process : NULL;
}

static void process_table_watch(const struct process_table *table, const struct process *process)
{
	struct epoll_event interest = { .events = EPOLLIN, .data.u32 = process->target_id };

	epoll_ctl(table->epoll, EPOLL_CTL_ADD, process->target.pidfd, &interest);
}

static void process_table_forget_pid(struct process_table *table, const struct process *process)
{
	uint32_t pid = (uint32_t)process->target.pid;

	if (table_get(&table->by_pid, pid) == process)
		table_remove(&table->by_pid, pid);
}

bool process_table_add(struct process_table *table, struct process *process, bool root)
{
	size_t at = process_table_free_slot(table);

	if (at == PROCESS_TABLE_MAX)
		return false;
	if (at < table->count) {
		process_table_forget_pid(table, table->slots[at].process);
		process_free(table->slots[at].process);
		table->reusable_count--;
	} else {
		table->slots = memory_grow(table->slots, table->count, &table->capacity,
					   sizeof(*table->slots));
		table->count++;
	}
	table->slots[at] = (struct process_slot){ .process = process, .root = root };
	table->roots_running += root;
	process->target_id = (uint32_t)at + 1;
	if (!process_table_find(table, (uint32_t)process->target.pid))
		table_put(&table->by_pid, (uint32_t)process->target.pid, process);
	process_table_watch(table, process);
	return true;
}

struct process *process_table_get(const struct process_table *table, uint32_t target_id)
{
	return target_id && target_id <= table->count ? table->slots[target_id - 1].process : NULL;
}

struct process_slot *process_table_slot(const struct process_table *table,
					const struct process *process)
{
	return &table->slots[process->target_id - 1];
}

struct process *process_table_find(const struct process_table *table, uint32_t pid)
{
	struct process *process = table_get(&table->by_pid, pid);

	return process && !process->target.exited && !process->is_replaced ? process : NULL;
}

size_t process_table_running(const struct process_table *table)
{
	size_t i, running = 0;

	for (i = 0; i < table->count; i++)
		running += !table->slots[i].process->target.exited;
	return running;
}

void process_table_count_files(const struct process_table *table)
{
	size_t i;

	for (i = 0; i < table->count; i++)
		if (!table->slots[i].process->target.exited)
			process_count_files(table->slots[i].process);
}

void process_table_list(const struct process_table *table, struct pid_list *list)
{
	size_t i;

	for (i = 0; i < table->count; i++)
		if (!table->slots[i].process->target.exited)
			pid_list_add(list, table->slots[i].process->target.pid);
}

bool process_table_is_descendant(const struct process_table *table, uint32_t pid)
{
	return process_table_find(table, pid) || table_get(&table->descendants, pid);
}

void process_table_add_descendant(struct process_table *table, uint32_t pid)
{
	table_put(&table->descendants, pid, table);
}

bool process_table_miss_descendant(struct process_table *table, uint32_t pid)
{
	void *missed = &table->descendants, *known = table_get(&table->descendants, pid);

	if (known == missed)
		return false;
	if (known)
		table_put(&table->descendants, pid, missed);
	return true;
}

void process_table_remove_descendant(struct process_table *table, uint32_t pid)
{
	table_remove(&table->descendants, pid);
}

void process_table_forget_descendants(struct process_table *table)
{
	table_free(&table->descendants);
}

int process_table_fd(const struct process_table *table)
{
	return table->epoll;
}

size_t process_table_find_ended(const struct process_table *table, struct process **ret_processes,
				size_t limit)
{
	struct epoll_event ready[ENDED_AT_ONCE];
	int count, i;

	count = epoll_wait(table->epoll, ready, limit < ENDED_AT_ONCE ? (int)limit : ENDED_AT_ONCE,
			   0);
	for (i = 0; i < count; i++)
		ret_processes[i] = process_table_get(table, ready[i].data.u32);
	return count > 0 ? (size_t)count : 0;
}

bool process_table_has_ended(const struct process_table *table)
{
	struct process *ended[ENDED_AT_ONCE];
	size_t running = process_table_running(table);

	return running <= ENDED_AT_ONCE &&
	       process_table_find_ended(table, ended, ENDED_AT_ONCE) == running;
}

void process_table_end(struct process_table *table, struct process *process)
{
	epoll_ctl(table->epoll, EPOLL_CTL_DEL, process->target.pidfd, NULL);
	process->target.exited = true;
	process_table_forget_pid(table, process);
	table->roots_running -= process_table_slot(table, process)->root;
}

void process_table_release(struct process_table *table, const struct process *process)
{
	struct process_slot *slot = process_table_slot(table, process);

	if (slot->root || slot->reusable)
		return;
	slot->reusable = true;
	table->reusable_count++;
}
