/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a recorded image, and what lies in its memory as program headers and as lists of threads. What is found must lie
 * where something is mapped.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "image/image_record.h"
#include "image/module_ranges.h"
#include "image/thread_list.h"

#define MOST (4u << 20)

static void check_pages(struct image *image)
{
	unsigned char bytes[64];
	size_t i;

	for (i = 1; i < image->run_count; i++)
		MUST(image->runs[i - 1].end <= image->runs[i].start);
	for (i = 0; i < image->mapping_count; i++) {
		const struct image_mapping *mapping = &image->mappings[i];

		MUST(mapping->start < mapping->end);
		MUST(image_find(image, mapping->start) == mapping);
		MUST(image_read_part(image, mapping->end - 1, bytes, sizeof(bytes)) <=
		     sizeof(bytes));
		image_page(image, mapping->start);
	}
}

static void check_modules(struct image *image)
{
	struct module_ranges ranges;
	size_t i;

	module_ranges_find(image, &ranges);
	for (i = 0; i < ranges.count; i++) {
		MUST(ranges.items[i].start < ranges.items[i].end);
		MUST(ranges.items[i].module < ranges.module_count);
		MUST(image_find(image, ranges.items[i].start));
		MUST(module_ranges_at(&ranges, ranges.items[i].start) == &ranges.items[i]);
	}
	module_ranges_free(&ranges);
}

static void check_threads(struct image *image)
{
	struct thread_list list;
	size_t i;

	thread_list_find(image, &list);
	for (i = 0; i < list.count; i++)
		MUST(list.items[i].stack_start <= list.items[i].stack_end);
	thread_list_free(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("image", MFD_CLOEXEC);
	struct image *image;

	MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size && !lseek(fd, 0, SEEK_SET));
	if (!image_load(fd, MOST, &image, NULL)) {
		check_pages(image);
		check_modules(image);
		check_threads(image);
		image_free(image);
	}
	close(fd);
	return 0;
}
