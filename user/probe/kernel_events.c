/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See kernel_events.h. */
#include "probe/kernel_events.h"

#include <errno.h>

/* What a program takes for what: positions of arguments, -1 = none. */
struct program_needs {
	int pointers[2];
	int numbers[2];
};

static const struct program_needs program_needs[KERNEL_PROGRAM_COUNT] = {
	[KERNEL_PROGRAM_KMALLOC] = { { 1, -1 }, { 2, 3 } },
	[KERNEL_PROGRAM_KMALLOC_CACHE] = { { 1, 2 }, { 3, 4 } },
	[KERNEL_PROGRAM_CACHE] = { { 1, 2 }, { 0, -1 } },
	[KERNEL_PROGRAM_CACHE_SIZED] = { { 1, -1 }, { 2, 3 } },
	[KERNEL_PROGRAM_PAGES] = { { 0, -1 }, { 1, 2 } },
	[KERNEL_PROGRAM_PERCPU] = { { 5, 7 }, { 3, -1 } },
	[KERNEL_PROGRAM_PERCPU_OLD] = { { 4, 6 }, { 2, -1 } },
	[KERNEL_PROGRAM_KFREE] = { { 1, -1 }, { 0, -1 } },
	[KERNEL_PROGRAM_CACHE_FREE] = { { 1, -1 }, { 0, -1 } },
	[KERNEL_PROGRAM_PERCPU_FREE] = { { 0, 2 }, { 1, -1 } },
	[KERNEL_PROGRAM_PAGES_FREE] = { { 0, -1 }, { 1, -1 } },
	[KERNEL_PROGRAM_BULK_FREE] = { { 0, 2 }, { 1, -1 } },
};

struct event_row {
	const char *name;
	bool required;
	enum kernel_program programs[2]; /* the first that fits */
};

static const struct event_row event_rows[] = {
	{ "kmalloc", true, { KERNEL_PROGRAM_KMALLOC_CACHE, KERNEL_PROGRAM_KMALLOC } },
	/* Before Linux 6.1, allocations that prefer a node are events of their own. */
	{ "kmalloc_node", false, { KERNEL_PROGRAM_KMALLOC_CACHE, KERNEL_PROGRAM_KMALLOC } },
	{ "kmem_cache_alloc", true, { KERNEL_PROGRAM_CACHE, KERNEL_PROGRAM_CACHE_SIZED } },
	{ "kmem_cache_alloc_node", false, { KERNEL_PROGRAM_CACHE, KERNEL_PROGRAM_CACHE_SIZED } },
	{ "kfree", true, { KERNEL_PROGRAM_KFREE, KERNEL_PROGRAM_KFREE } },
	{ "kmem_cache_free", true, { KERNEL_PROGRAM_CACHE_FREE, KERNEL_PROGRAM_CACHE_FREE } },
	{ "mm_page_alloc", true, { KERNEL_PROGRAM_PAGES, KERNEL_PROGRAM_PAGES } },
	{ "mm_page_free", true, { KERNEL_PROGRAM_PAGES_FREE, KERNEL_PROGRAM_PAGES_FREE } },
	{ "percpu_alloc_percpu", true, { KERNEL_PROGRAM_PERCPU, KERNEL_PROGRAM_PERCPU_OLD } },
	{ "percpu_free_percpu", true, { KERNEL_PROGRAM_PERCPU_FREE, KERNEL_PROGRAM_PERCPU_FREE } },
	{ "rcu_invoke_kfree_bulk_callback",
	  false,
	  { KERNEL_PROGRAM_BULK_FREE, KERNEL_PROGRAM_BULK_FREE } },
};

#define EVENT_COUNT (sizeof(event_rows) / sizeof(event_rows[0]))

static bool kernel_events_fit(const struct kernel_arguments *arguments, enum kernel_program program)
{
	const struct program_needs *needs = &program_needs[program];
	int i;

	for (i = 0; i < 2; i++) {
		int pointer = needs->pointers[i], number = needs->numbers[i];

		if (pointer >= 0 &&
		    ((size_t)pointer >= arguments->count || !arguments->items[pointer].is_pointer))
			return false;
		if (number >= 0 &&
		    ((size_t)number >= arguments->count || arguments->items[number].is_pointer ||
		     arguments->items[number].bytes < 4))
			return false;
	}
	return true;
}

static int kernel_events_choose_one(const struct event_row *row,
				    const struct kernel_arguments *arguments,
				    struct kernel_hooks *hooks, struct error *error)
{
	int i;

	if (!arguments->count && !row->required)
		return 0;
	if (!arguments->count)
		return error_set(error, ERROR_PERMISSION, -ENOTSUP,
				 "this kernel does not have the event '%s', which --kernel needs",
				 row->name);
	for (i = 0; i < 2; i++) {
		if (!kernel_events_fit(arguments, row->programs[i]))
			continue;
		hooks->items[hooks->count++] = (struct kernel_hook){ row->name, row->programs[i] };
		hooks->bulk |= row->programs[i] == KERNEL_PROGRAM_BULK_FREE;
		return 0;
	}
	return error_set(error, ERROR_PERMISSION, -ENOTSUP,
			 "the arguments of this kernel's event '%s' are not as --kernel knows them",
			 row->name);
}

int kernel_events_choose(void (*find)(void *context, const char *event,
				      struct kernel_arguments *ret_arguments),
			 void *context, struct kernel_hooks *ret_hooks, struct error *error)
{
	size_t i;
	int code = 0;

	*ret_hooks = (struct kernel_hooks){ 0 };
	for (i = 0; i < EVENT_COUNT && !code; i++) {
		struct kernel_arguments arguments = { 0 };

		find(context, event_rows[i].name, &arguments);
		code = kernel_events_choose_one(&event_rows[i], &arguments, ret_hooks, error);
	}
	return code;
}
