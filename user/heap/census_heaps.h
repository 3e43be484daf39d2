/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The allocators at work in a process. All that walk heaps find them here, and so agree on which
 * heaps there are, and on when one is missing.
 */
#ifndef HEAP_CENSUS_HEAPS_H
#define HEAP_CENSUS_HEAPS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "heap/census.h"

#define CENSUS_HEAPS_MAX 8

struct census_heap {
	const struct heap_allocator *allocator;
	struct heap_layout *layout; /* owned */
	/* 0 = found; -ENOENT = not at work; any other: at work, but refused, for `reason` */
	int code;
	struct error reason;
};

struct census_heaps {
	struct census_heap items[CENSUS_HEAPS_MAX]; /* as in census_allocators */
	size_t count;
};

/*
 * Find the allocators at work; free with census_heaps_free in either case. Structures that change
 * all the time are not recognized each time, so one that is refused is searched up to `tries`
 * times, and so are all while none is found. One that was found in this image before and is missing
 * now is refused. True if at least one was found and none refused.
 */
bool census_heaps_find(struct census_heaps *heaps, struct image *image,
		       const struct thread_list *threads, unsigned int tries);
/*
 * The same for those alone that were found in this image before, or refused the last time: the
 * search for one that is not at work takes longest.
 */
bool census_heaps_find_again(struct census_heaps *heaps, struct image *image,
			     const struct thread_list *threads, unsigned int tries);
/* Was this one refused? */
bool census_heap_is_refused(const struct census_heap *heap);
void census_heaps_free(struct census_heaps *heaps);

#endif
