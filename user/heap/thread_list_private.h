/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the readers of the C libraries' lists of threads share. */
#ifndef HEAP_THREAD_LIST_PRIVATE_H
#define HEAP_THREAD_LIST_PRIVATE_H

#include "heap/module_ranges.h"
#include "heap/thread_list.h"

/* Bytes of all modules' data that are read at most to find the lists; what is not in memory does not count. */
#define THREADS_DATA_MAX (256ull << 20)

/* Returns the new item, until the next call. */
struct thread_info *thread_list_add(struct thread_list *list, const struct thread_info *thread);

/* musl's list, in which all threads are that run. Adds nothing if there is none. */
void thread_list_find_musl(struct image *image, const struct module_ranges *modules,
			   struct thread_list *list);

#endif
