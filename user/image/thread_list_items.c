/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list of threads as such: see thread_list.h. */
#include "image/thread_list_private.h"

#include <stdlib.h>

#include "base/memory.h"

struct thread_info *thread_list_add(struct thread_list *list, const struct thread_info *thread)
{
	/* The array grows by doubling, without a field for its capacity. */
	if (!(list->count & (list->count - 1)))
		list->items = memory_resize(list->items, list->count ? 2 * list->count : 1,
					    sizeof(*list->items));
	list->items[list->count] = *thread;
	return &list->items[list->count++];
}

void thread_list_free(struct thread_list *list)
{
	free(list->items);
	*list = (struct thread_list){ 0 };
}
