/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A heap of a real process, of tests/data/images, whose words can be changed:
 *
 *	struct recorded_heap *heap = recorded_heap_open("jemalloc");
 *	recorded_heap_census(heap, &found);		find and walk
 *	recorded_heap_put(heap, heap->words[7], 1);	`words`: addresses of what the allocator may have written
 *	recorded_heap_free(heap);
 *
 * The images are of tests/targets/filled.c with 2 threads and 600 blocks each, as "recorded trim" of tests/live/recorded.c has saved them, compressed again
 * by gzip -9.
 */
#ifndef TESTS_RECORDED_HEAP_H
#define TESTS_RECORDED_HEAP_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/table.h"
#include "heap/census.h"
#include "image/image_record.h"

#define RECORDED_PAGE 4096ull
#define RECORDED_MOST (64u << 20)
/* Of the program's: the first word of its blocks ^ their address, and what it fills them with. */
#define RECORDED_KEY 0x6c61766f696e7573ull
#define RECORDED_FILL 0x5a5a5a5a5a5a5a5aull
/* What it has printed as its own count when its images were recorded. */
#define RECORDED_BLOCKS 550
#define RECORDED_BYTES 2062483

struct recorded_heap {
	const struct heap_allocator *allocator;
	struct image *loaded, *image;
	struct table pages; /* number -> bytes */
	size_t reads;
	uint64_t *words; /* addresses, in no block in use and not 0 */
	size_t word_count, word_capacity;
};

/* What a census has found. */
struct recorded_found {
	struct recorded_heap *heap;
	int code; /* of find, or walk */
	uint64_t blocks, bytes; /* of the program's, by their first two words */
	uint64_t given, given_bytes; /* passed to the sink */
	uint64_t outside; /* of these: that begin in no mapping */
	struct heap_totals totals;
	struct table *live; /* NULL, or gets units of 8 bytes of all blocks */
};

static inline unsigned char *recorded_heap_page(struct recorded_heap *heap, uint64_t address)
{
	return table_get(&heap->pages, address / RECORDED_PAGE + 1);
}

static size_t recorded_heap_read(void *context, uint64_t address, void *bytes, size_t size)
{
	struct recorded_heap *heap = context;
	size_t done, part;

	heap->reads++;
	for (done = 0; done < size; done += part) {
		const unsigned char *page = recorded_heap_page(heap, address + done);

		if (!page)
			break;
		part = RECORDED_PAGE - (address + done) % RECORDED_PAGE;
		part = part < size - done ? part : size - done;
		memcpy((char *)bytes + done, page + (address + done) % RECORDED_PAGE, part);
	}
	return done;
}

static bool recorded_heap_mappings(void *context, struct image *image)
{
	struct recorded_heap *heap = context;
	size_t i;

	for (i = 0; i < heap->loaded->mapping_count; i++)
		image_add_mapping(image, &heap->loaded->mappings[i]);
	return true;
}

static bool recorded_heap_list(void *context, struct image *image, uint64_t start, uint64_t end)
{
	struct recorded_heap *heap = context;
	struct image_run run;

	while (image_next_run(heap->loaded, start, end, &run)) {
		image_add_pages(image, run.start, run.end, run.bits);
		start = run.end;
	}
	return true;
}

static const struct image_source recorded_heap_source = {
	.read = recorded_heap_read,
	.mappings = recorded_heap_mappings,
	.pages = recorded_heap_list,
};

static bool recorded_heap_block(void *context, const struct census_block *block)
{
	struct recorded_found *found = context;
	uint64_t words[2], at;

	found->given++;
	found->given_bytes += block->size;
	found->outside += !image_find(found->heap->image, block->address);
	for (at = block->address; found->live && at < block->address + block->size; at += 8)
		table_put(found->live, at, found);
	if (!block->bytes || block->length < sizeof(words))
		return true;
	memcpy(words, block->bytes, sizeof(words));
	if (words[0] == (block->address ^ RECORDED_KEY)) {
		found->blocks++;
		found->bytes += words[1];
	}
	return true;
}

/* Find and walk; `found->live` is the caller's. Free its totals. */
static inline void recorded_heap_census(struct recorded_heap *heap, struct recorded_found *found)
{
	struct census_sink sink = { .block = recorded_heap_block, .context = found };
	struct heap_layout *layout = NULL;
	struct thread_list threads;

	*found = (struct recorded_found){ .heap = heap, .live = found->live };
	heap->reads = 0;
	thread_list_find(heap->image, &threads);
	found->code = heap->allocator->find(heap->image, &threads, &layout, NULL);
	if (!found->code) {
		found->code = heap->allocator->walk(layout, heap->image, &sink, &found->totals);
		heap->allocator->free(layout);
	}
	thread_list_free(&threads);
}

static inline uint64_t recorded_heap_get(struct recorded_heap *heap, uint64_t address)
{
	const unsigned char *page = recorded_heap_page(heap, address);
	uint64_t word;

	memcpy(&word, page + address % RECORDED_PAGE, sizeof(word));
	return word;
}

static inline void recorded_heap_put(struct recorded_heap *heap, uint64_t address, uint64_t word)
{
	memcpy(recorded_heap_page(heap, address) + address % RECORDED_PAGE, &word, sizeof(word));
}

static inline void recorded_heap_copy(struct recorded_heap *heap, uint64_t start, uint64_t end)
{
	unsigned char *page;

	for (; start < end; start += RECORDED_PAGE) {
		page = memory_alloc(1, RECORDED_PAGE);
		if (image_read(heap->loaded, start, page, RECORDED_PAGE) &&
		    !recorded_heap_page(heap, start))
			table_put(&heap->pages, start / RECORDED_PAGE + 1, page);
		else
			free(page);
	}
}

/* Words of writable memory that are not 0, nor the program's own. */
static inline void recorded_heap_list_words(struct recorded_heap *heap, struct table *live)
{
	const struct image *image = heap->image;
	uint64_t at, word;
	size_t i;

	for (i = 0; i < image->run_count; i++)
		for (at = image->runs[i].start; at < image->runs[i].end; at += 8) {
			if (!recorded_heap_page(heap, at) || table_get(live, at) ||
			    !image_find(image, at)->writable)
				continue;
			word = recorded_heap_get(heap, at);
			if (!word || word == RECORDED_FILL)
				continue;
			heap->words = memory_grow(heap->words, heap->word_count,
						  &heap->word_capacity, sizeof(*heap->words));
			heap->words[heap->word_count++] = at;
		}
}

static inline void recorded_heap_fill(struct recorded_heap *heap)
{
	const struct image *loaded = heap->loaded;
	struct table live = { 0 };
	struct recorded_found found = { .live = &live };
	size_t i;

	for (i = 0; i < loaded->run_count; i++)
		recorded_heap_copy(heap, loaded->runs[i].start, loaded->runs[i].end);
	for (i = 0; i < loaded->mapping_count; i++)
		if (loaded->mappings[i].inode)
			recorded_heap_copy(heap, loaded->mappings[i].start,
					   loaded->mappings[i].end);
	heap->image = image_new(&recorded_heap_source, heap, RECORDED_PAGE);
	heap->image->own_pid = loaded->own_pid;
	image_refresh(heap->image);
	recorded_heap_census(heap, &found);
	heap_totals_free(&found.totals);
	recorded_heap_list_words(heap, &live);
	table_free(&live);
}

/* NULL if there is no such image. */
static inline struct recorded_heap *recorded_heap_open(const char *name)
{
	struct recorded_heap *heap = memory_alloc(1, sizeof(*heap));
	char path[128];
	size_t i;
	int fd;

	for (i = 0; census_allocators[i]; i++)
		if (!strcmp(census_allocators[i]->name, name))
			heap->allocator = census_allocators[i];
	snprintf(path, sizeof(path), "tests/data/images/%s.gz", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || image_load(fd, RECORDED_MOST, &heap->loaded, NULL)) {
		free(heap);
		return NULL;
	}
	close(fd);
	recorded_heap_fill(heap);
	return heap;
}

static inline void recorded_heap_free(struct recorded_heap *heap)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	while ((slot = table_next(&heap->pages, &cursor)))
		free(slot->value);
	table_free(&heap->pages);
	image_free(heap->image);
	image_free(heap->loaded);
	free(heap->words);
	free(heap);
}

#endif
