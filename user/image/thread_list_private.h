/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the readers of the C libraries' thread lists. */
#ifndef IMAGE_THREAD_LIST_PRIVATE_H
#define IMAGE_THREAD_LIST_PRIVATE_H

#include "image/module_ranges.h"
#include "image/thread_list.h"

/* Limit of bytes read of all modules' data to find the lists; absent memory does not count. */
#define THREADS_DATA_MAX (256ull << 20)

/* Append. Returns the new item, valid until the next call. */
struct thread_info *thread_list_add(struct thread_list *list, const struct thread_info *thread);

/* Read musl's list, which has all running threads. Adds nothing if there is none. */
void thread_list_find_musl(struct image *image, const struct module_ranges *modules,
			   struct thread_list *list);

#endif
