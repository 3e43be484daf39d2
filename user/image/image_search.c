/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allocators without symbols are found by what their structures are, so what may hold such structures is read as words. */
#include "image/image_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define CHUNK 65536
/* Of TLS whose start is not known. */
#define TLS_MOST 32768

static bool image_search_is_data(const struct image *image, size_t i)
{
	const struct image_mapping *mapping = &image->mappings[i], *before = mapping - 1;

	if (!mapping->writable || mapping->shared || !mapping->readable)
		return false;
	if (mapping->inode)
		return true;
	return i > 0 && !mapping->name[0] && before->end == mapping->start && before->inode;
}

/* Does `next` continue the data of a module, as its .bss? */
static bool image_search_continues(const struct image_mapping *mapping,
				   const struct image_mapping *next)
{
	return next->start == mapping->end && next->writable && next->readable && !next->shared &&
	       !next->inode && strcmp(next->name, "[heap]") != 0 &&
	       strcmp(next->name, "[stack]") != 0;
}

bool image_search_data(const struct image *image, size_t *cursor, struct heap_range *ret_range)
{
	size_t i = *cursor, last;

	while (i < image->mapping_count && !image_search_is_data(image, i))
		i++;
	if (i >= image->mapping_count)
		return false;
	last = i;
	while (last + 1 < image->mapping_count &&
	       image_search_continues(&image->mappings[last], &image->mappings[last + 1]))
		last++;
	ret_range->start = image->mappings[i].start;
	ret_range->end = image->mappings[last].end;
	if (ret_range->end - ret_range->start > IMAGE_SEARCH_DATA)
		ret_range->end = ret_range->start + IMAGE_SEARCH_DATA;
	*cursor = last + 1;
	return true;
}

/* The same of [start, end), which is present; `words` has room for CHUNK bytes. */
static bool image_search_run(struct image *image, uint64_t start, uint64_t end, uint64_t *words,
			     image_search_word *word, void *context)
{
	size_t length, i;

	for (; start < end; start += length) {
		length = end - start < CHUNK ? end - start : CHUNK;
		length = image_read_part(image, start, words, length) & ~7ull;
		if (!length)
			return true;
		for (i = 0; i < length / 8; i++)
			if (words[i] && !word(context, start + 8 * i, words[i]))
				return false;
	}
	return true;
}

bool image_search_words(struct image *image, const struct heap_range *range,
			image_search_word *word, void *context)
{
	uint64_t at = (range->start + 7) & ~7ull, start, end;
	uint64_t *words = memory_alloc(CHUNK, 1);
	bool more = true;

	while (more && image_next_present(image, at, range->end, &start, &end) && end > at) {
		more = image_search_run(image, start, end, words, word, context);
		at = end;
	}
	free(words);
	return more;
}

bool image_search_within(struct image *image, const struct heap_range *range, uint64_t *left,
			 image_search_word *word, void *context)
{
	uint64_t at = range->start, end;
	struct heap_range part;

	while (*left && image_next_present(image, at, range->end, &part.start, &end) && end > at) {
		part.end = end - part.start < *left ? end : part.start + *left;
		*left -= part.end - part.start;
		if (!image_search_words(image, &part, word, context))
			return false;
		at = end;
	}
	return true;
}

bool image_search_anonymous(const struct image *image, uint64_t address, uint64_t size)
{
	const struct image_mapping *mapping = image_find(image, address);

	return mapping && mapping->writable && !mapping->inode && size <= mapping->end - address;
}

uint64_t image_search_resident(struct image *image, uint64_t from, uint64_t to)
{
	uint64_t sum = 0, start, end;

	while (from < to && image_next_present(image, from, to, &start, &end) && end > from) {
		sum += end - start;
		from = end;
	}
	return sum;
}

struct heap_range *image_search_tls(struct image *image, const struct thread_list *threads,
				    size_t *ret_count)
{
	struct heap_range *ranges = memory_alloc(threads->count + 1, sizeof(*ranges));
	const struct image_mapping *mapping;
	size_t i, count = 0;

	for (i = 0; i < threads->count; i++) {
		const struct thread_info *thread = &threads->items[i];
		struct heap_range range = { thread->tls_start & ~7ull, thread->descriptor & ~7ull };

		mapping = range.end ? image_find(image, range.end - 1) : NULL;
		if (thread->state != THREAD_RUNS || !mapping)
			continue;
		if (!range.start || range.start >= range.end)
			range.start = range.end > TLS_MOST ? range.end - TLS_MOST : 0;
		if (range.start < mapping->start)
			range.start = mapping->start;
		ranges[count++] = range;
	}
	*ret_count = count;
	return ranges;
}
