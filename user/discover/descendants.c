/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See descendants.h. */
#include "discover/descendants.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "system/proc.h"

struct relation {
	pid_t pid, parent;
	bool has_memory;
};

static int relations_compare(const void *a, const void *b)
{
	const struct relation *left = a, *right = b;

	return (left->parent > right->parent) - (left->parent < right->parent);
}

/* All processes by their parents, without the tracer. Free with free(). */
static struct relation *relations_read(size_t *ret_count)
{
	struct pid_list list = { 0 };
	struct proc_status status;
	struct relation *relations;
	size_t i, count = 0;

	proc_list_pids("/proc", &list);
	relations = memory_alloc(list.count, sizeof(*relations));
	for (i = 0; i < list.count; i++)
		if (list.pids[i] != getpid() && !proc_read_status("/proc", list.pids[i], &status))
			relations[count++] = (struct relation){ list.pids[i], status.parent_pid,
								status.rss_bytes != 0 };
	pid_list_free(&list);
	if (count)
		qsort(relations, count, sizeof(*relations), relations_compare);
	*ret_count = count;
	return relations;
}

/* The first of those with this parent; `count` if there is none. */
static size_t relations_find(const struct relation *relations, size_t count, pid_t parent)
{
	size_t low = 0, high = count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (relations[middle].parent < parent)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void relations_add_children(const struct relation *relations, size_t count, pid_t parent,
				   struct pid_list *list)
{
	size_t i;

	for (i = relations_find(relations, count, parent);
	     i < count && relations[i].parent == parent; i++)
		if (relations[i].has_memory && !pid_list_has(list, relations[i].pid))
			pid_list_add(list, relations[i].pid);
}

/* Pids may have been used again while they were read: each is listed once, so there is no circle. */
void descendants_list(pid_t pid, struct pid_list *list)
{
	size_t count, at = list->count;
	struct relation *relations = relations_read(&count);

	relations_add_children(relations, count, pid, list);
	for (; at < list->count; at++)
		relations_add_children(relations, count, list->pids[at], list);
	free(relations);
}

void descendants_list_children(pid_t pid, struct pid_list *list)
{
	size_t count;
	struct relation *relations = relations_read(&count);

	relations_add_children(relations, count, pid, list);
	free(relations);
}
