/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See census_heaps.h. */
#include "heap/census_heaps.h"

#include <errno.h>

bool census_heap_is_refused(const struct census_heap *heap)
{
	return heap->code && heap->code != -ENOENT;
}

static bool heaps_has_one(const struct census_heaps *heaps)
{
	size_t i;

	for (i = 0; i < heaps->count; i++)
		if (!heaps->items[i].code)
			return true;
	return false;
}

static bool heaps_is_whole(const struct census_heaps *heaps)
{
	size_t i;

	for (i = 0; i < heaps->count; i++)
		if (census_heap_is_refused(&heaps->items[i]))
			return false;
	return heaps_has_one(heaps);
}

static void heaps_search(struct census_heap *heap, struct image *image,
			 const struct thread_list *threads, uint32_t bit)
{
	heap->reason = (struct error){ 0 };
	heap->code = heap->allocator->find(image, threads, &heap->layout, &heap->reason);
	if (heap->code == -ENOENT && image->heaps_found & bit)
		heap->code = error_set(&heap->reason, ERROR_TARGET, -ENOTSUP,
				       "its heap was found before, and is not found again");
	image->heaps_refused &= ~bit;
	if (!heap->code)
		image->heaps_found |= bit;
	else if (census_heap_is_refused(heap))
		image->heaps_refused |= bit;
}

static bool heaps_find(struct census_heaps *heaps, struct image *image,
		       const struct thread_list *threads, unsigned int tries, uint32_t wanted)
{
	unsigned int try;
	bool has_one;
	size_t i;

	*heaps = (struct census_heaps){ 0 };
	for (i = 0; i < CENSUS_HEAPS_MAX && census_allocators[i]; i++)
		heaps->items[heaps->count++] =
			(struct census_heap){ .allocator = census_allocators[i], .code = -ENOENT };
	for (try = 0; try < tries && !heaps_is_whole(heaps); try++) {
		has_one = heaps_has_one(heaps);
		for (i = 0; i < heaps->count && !image_is_over(image); i++)
			if (wanted >> i & 1 &&
			    (census_heap_is_refused(&heaps->items[i]) || !has_one))
				heaps_search(&heaps->items[i], image, threads, 1u << i);
	}
	return heaps_is_whole(heaps);
}

bool census_heaps_find(struct census_heaps *heaps, struct image *image,
		       const struct thread_list *threads, unsigned int tries)
{
	return heaps_find(heaps, image, threads, tries, UINT32_MAX);
}

bool census_heaps_find_again(struct census_heaps *heaps, struct image *image,
			     const struct thread_list *threads, unsigned int tries)
{
	return heaps_find(heaps, image, threads, tries, image->heaps_found | image->heaps_refused);
}

void census_heaps_free(struct census_heaps *heaps)
{
	size_t i;

	for (i = 0; i < heaps->count; i++)
		if (!heaps->items[i].code)
			heaps->items[i].allocator->free(heaps->items[i].layout);
	*heaps = (struct census_heaps){ 0 };
}
