/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages of an image: runs of them with the same bits, in the order of addresses. A run takes no more than three entries of the page
 * tables that it is about, so no process can make them take much.
 */
#include "image/image.h"

#include "base/memory.h"

void image_add_pages(struct image *image, uint64_t start, uint64_t end, unsigned int bits)
{
	struct image_run *last = image->run_count ? &image->runs[image->run_count - 1] : NULL;

	if (!bits || start >= end || (start | end) & (image->page_size - 1) ||
	    (last && start < last->end))
		return;
	if (last && last->end == start && last->bits == bits) {
		last->end = end;
		return;
	}
	image->runs = memory_grow(image->runs, image->run_count, &image->run_capacity,
				  sizeof(*image->runs));
	image->runs[image->run_count++] = (struct image_run){ start, end, bits };
}

/* The first run that ends behind `address`; `run_count` if there is none. */
static size_t image_search_run(struct image *image, uint64_t address)
{
	size_t low = 0, high = image->run_count, middle;

	/* Mostly it is the last one that was found, or the one behind it. */
	for (middle = image->run_last; middle < image->run_count && middle < image->run_last + 2;
	     middle++)
		if (image->runs[middle].end > address &&
		    (!middle || image->runs[middle - 1].end <= address))
			return image->run_last = middle;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (image->runs[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return image->run_last = low;
}

bool image_next_run(struct image *image, uint64_t address, uint64_t end, struct image_run *ret_run)
{
	size_t at = image_search_run(image, address);

	if (at >= image->run_count || image->runs[at].start >= end || address >= end)
		return false;
	*ret_run = image->runs[at];
	if (ret_run->start < address)
		ret_run->start = address;
	if (ret_run->end > end)
		ret_run->end = end;
	return true;
}

bool image_next_present(struct image *image, uint64_t address, uint64_t end, uint64_t *ret_start,
			uint64_t *ret_end)
{
	struct image_run run;

	do {
		if (!image_next_run(image, address, end, &run))
			return false;
		address = run.end;
	} while (!(run.bits & IMAGE_PRESENT));
	*ret_start = run.start;
	*ret_end = run.end;
	while (image_next_run(image, *ret_end, end, &run) && run.start == *ret_end &&
	       run.bits & IMAGE_PRESENT)
		*ret_end = run.end;
	return true;
}

unsigned int image_page(struct image *image, uint64_t address)
{
	size_t at = image_search_run(image, address);

	return at < image->run_count && image->runs[at].start <= address ? image->runs[at].bits : 0;
}
