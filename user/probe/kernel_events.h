/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Matches BPF programs to the events of the kernel's allocators, by the types of their arguments,
 * which differ by release. Pure; the types come from the kernel's BTF.
 */
#ifndef PROBE_KERNEL_EVENTS_H
#define PROBE_KERNEL_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* The programs of bpf/kernel_memory.bpf.c. */
enum kernel_program {
	KERNEL_PROGRAM_KMALLOC,
	KERNEL_PROGRAM_KMALLOC_CACHE,
	KERNEL_PROGRAM_CACHE,
	KERNEL_PROGRAM_CACHE_SIZED,
	KERNEL_PROGRAM_PAGES,
	KERNEL_PROGRAM_PERCPU,
	KERNEL_PROGRAM_PERCPU_OLD,
	KERNEL_PROGRAM_KFREE,
	KERNEL_PROGRAM_CACHE_FREE,
	KERNEL_PROGRAM_PERCPU_FREE,
	KERNEL_PROGRAM_PAGES_FREE,
	KERNEL_PROGRAM_BULK_FREE,
	KERNEL_PROGRAM_COUNT,
};

#define KERNEL_ARGUMENTS_MAX 12

/* The arguments of an event, excluding the one that the kernel passes to every probe. */
struct kernel_arguments {
	size_t count; /* 0 = the kernel has no such event */
	struct {
		bool is_pointer;
		size_t bytes;
	} items[KERNEL_ARGUMENTS_MAX];
};

struct kernel_hook {
	const char *event; /* "kmalloc"; static */
	enum kernel_program program;
};

#define KERNEL_HOOKS_MAX 12

struct kernel_hooks {
	struct kernel_hook items[KERNEL_HOOKS_MAX];
	size_t count;
	bool bulk; /* frees in bulk by kfree_rcu() are seen */
};

/*
 * Choose programs by the arguments that `find` returns for an event. Returns 0, or -ENOTSUP with
 * `error` filled: the kernel lacks an event, or its arguments match no known release.
 */
int kernel_events_choose(void (*find)(void *context, const char *event,
				      struct kernel_arguments *ret_arguments),
			 void *context, struct kernel_hooks *ret_hooks, struct error *error);

#endif
