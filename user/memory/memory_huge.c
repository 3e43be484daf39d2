/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See memory_huge.h. The kernel does not count what was never written of a huge page. Such a part has only zeroes, as one has that
 * the process has cleared: with small pages, the first would not be in memory.
 */
#include "memory/memory_huge.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Read at once: a huge page, where small ones have 4 KiB. */
#define STEP_PAGES 512

static bool huge_is_wanted(const struct image_run *run)
{
	return run->bits & IMAGE_PRESENT && run->bits & IMAGE_HUGE &&
	       !(run->bits & (IMAGE_FILE | IMAGE_ZERO));
}

static uint64_t huge_count_zero(const unsigned char *bytes, size_t length, size_t page)
{
	uint64_t zero = 0;
	size_t at;

	for (at = 0; at + page <= length; at += page)
		if (!bytes[at] && !memcmp(bytes + at, bytes + at + 1, page - 1))
			zero += page;
	return zero;
}

/* What has gone since the pages were listed is passed over. */
static uint64_t huge_read_run(struct image *image, const struct image_run *run,
			      unsigned char *bytes, size_t size)
{
	uint64_t at = run->start, zero = 0;
	size_t part, got;

	while (at < run->end && !image_is_over(image)) {
		part = run->end - at < size ? run->end - at : size;
		got = image_read_part(image, at, bytes, part);
		zero += huge_count_zero(bytes, got, image->page_size);
		at += got < part ? got - got % image->page_size + image->page_size : part;
	}
	return zero;
}

void memory_huge_look(struct image *image, bool reads, struct memory_report *report)
{
	size_t size = STEP_PAGES * image->page_size, i;
	unsigned char *bytes = reads ? memory_alloc(1, size) : NULL;
	uint64_t huge = 0, zero = 0;

	for (i = 0; i < image->run_count; i++) {
		if (!huge_is_wanted(&image->runs[i]))
			continue;
		huge += image->runs[i].end - image->runs[i].start;
		if (reads)
			zero += huge_read_run(image, &image->runs[i], bytes, size);
	}
	free(bytes);
	report->process.huge_bytes = image->huge_unknown ? HEAP_UNKNOWN : huge;
	report->process.huge_zero_bytes = image->huge_unknown || !reads ? HEAP_UNKNOWN : zero;
	if (reads && image->huge_unknown)
		memory_report_remark(report,
				     "Which pages are huge is not known: Linux 6.7 and later "
				     "show it.");
}
