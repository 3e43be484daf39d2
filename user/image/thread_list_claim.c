/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks of threads as claims: see thread_list.h. That of the main thread is a mapping of its own. */
#include "image/thread_list.h"

void thread_list_claim(const struct thread_list *list, struct claims *claims)
{
	static const enum purpose purposes[] = { [THREAD_RUNS] = PURPOSE_THREAD_STACK,
						 [THREAD_ENDED] = PURPOSE_ENDED_STACK,
						 [THREAD_CACHED] = PURPOSE_CACHED_STACK };
	size_t i;

	for (i = 0; i < list->count; i++)
		claims_add(claims, purposes[list->items[i].state], list->items[i].stack_start,
			   list->items[i].stack_end, (uint32_t)i);
}
