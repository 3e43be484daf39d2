/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See plain_heaps.h. PHP and V8 have chunks at aligned addresses, whose heads lead back to themselves or to one heap.
 */
#include "objects/plain_heaps.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "objects/exports.h"
#include "objects/java_classes.h"
#include "objects/java_heap.h"

/* PHP: 2 MB, aligned. The head: heap, next, previous; the heap lies in the first page of the first chunk. */
#define PHP_CHUNK (2ull << 20)
#define PHP_HEAP_IN 4096
/* Words of the heap in which the address of the first chunk stands, behind that of the list of huge blocks; and the most of these. */
#define PHP_FIRST_WORD 32
#define PHP_LAST_WORD 64
#define PHP_HUGE_MAX 65536
/* V8: pages of 256 KB, aligned; large ones are longer. The head: size, flags, heap. */
#define V8_PAGE (256ull << 10)
#define V8_LARGE_MAX (4ull << 30)
#define V8_PAGES_MIN 4
/* Looked at in one process: of an image with more, the rest is not claimed. */
#define CHUNKS_MAX (1u << 20)

struct head {
	uint64_t words[3];
};

/* Ranges that may be a heap's. */
struct chunk {
	uint64_t start, size, heap;
};

struct chunk_list {
	struct chunk *items;
	size_t count, capacity;
};

static void chunk_list_add(struct chunk_list *list, uint64_t start, uint64_t size, uint64_t heap)
{
	list->items = memory_grow(list->items, list->count, &list->capacity, sizeof(*list->items));
	list->items[list->count++] = (struct chunk){ start, size, heap };
}

/* Call `visit` with what stands at each present aligned address of anonymous memory that is written to. */
static void plain_heaps_visit(struct image *image, uint64_t alignment, struct chunk_list *list,
			      void (*visit)(struct image *image, uint64_t address,
					    const struct head *head, struct chunk_list *list))
{
	struct head head;
	size_t i, seen = 0;

	for (i = 0; i < image->mapping_count; i++) {
		const struct image_mapping *mapping = &image->mappings[i];
		uint64_t at = mapping->start, start, end;

		if (mapping->inode || !mapping->writable || mapping->shared)
			continue;
		for (; image_next_present(image, at, mapping->end, &start, &end); at = end) {
			start = (start + alignment - 1) & ~(alignment - 1);
			for (; start && start < end && seen < CHUNKS_MAX;
			     start += alignment, seen++)
				if (image_read(image, start, &head, sizeof(head)))
					visit(image, start, &head, list);
		}
	}
}

/* PHP */

static void plain_heaps_see_php(struct image *image, uint64_t address, const struct head *head,
				struct chunk_list *list)
{
	uint64_t heap = head->words[0], next = head->words[1], previous = head->words[2];
	uint64_t first = heap & ~(PHP_CHUNK - 1);

	if (next % PHP_CHUNK || previous % PHP_CHUNK || !next || !previous || heap == first ||
	    heap - first >= PHP_HEAP_IN || !image_holds(image, address, PHP_CHUNK))
		return;
	if (image_word(image, next + 16) == address && image_word(image, previous + 8) == address &&
	    image_word(image, first) == heap)
		chunk_list_add(list, address, PHP_CHUNK, heap);
}

/* Blocks of 2 MB and more are mapped by themselves; the list has address, size, next. */
static void plain_heaps_claim_php_huge(struct image *image, uint64_t list, struct claims *claims)
{
	struct head block;
	size_t i;

	for (i = 0; list && i < PHP_HUGE_MAX; i++, list = block.words[2]) {
		if (!image_read(image, list, &block, sizeof(block)) || !block.words[0] ||
		    block.words[0] % PHP_CHUNK || !block.words[1] ||
		    block.words[1] % image->page_size || block.words[0] > INT64_MAX ||
		    block.words[1] > INT64_MAX || !image_find(image, block.words[0]))
			return;
		claims_add(claims, PURPOSE_PHP_HEAP, block.words[0],
			   block.words[0] + block.words[1], 0);
	}
}

static void plain_heaps_claim_php_heap(struct image *image, uint64_t heap, struct claims *claims)
{
	uint64_t first = heap & ~(PHP_CHUNK - 1);
	size_t i;

	for (i = PHP_FIRST_WORD; i < PHP_LAST_WORD; i++)
		if (image_word(image, heap + 8 * i) == first) {
			plain_heaps_claim_php_huge(image, image_word(image, heap + 8 * (i - 1)),
						   claims);
			return;
		}
}

static void plain_heaps_claim_php(struct image *image, struct claims *claims)
{
	struct chunk_list list = { 0 };
	size_t i;

	plain_heaps_visit(image, PHP_CHUNK, &list, plain_heaps_see_php);
	for (i = 0; i < list.count; i++)
		claims_add(claims, PURPOSE_PHP_HEAP, list.items[i].start,
			   list.items[i].start + list.items[i].size, (uint32_t)i);
	/* A heap is in its first chunk. */
	for (i = 0; i < list.count; i++)
		if ((list.items[i].heap & ~(PHP_CHUNK - 1)) == list.items[i].start)
			plain_heaps_claim_php_heap(image, list.items[i].heap, claims);
	free(list.items);
}

/* V8 */

static void plain_heaps_see_v8(struct image *image, uint64_t address, const struct head *head,
			       struct chunk_list *list)
{
	uint64_t size = head->words[0], flags = head->words[1], heap = head->words[2];

	if (size < image->page_size || size % image->page_size || size > V8_LARGE_MAX ||
	    flags > UINT32_MAX || !heap || heap % 8 || !image_find(image, heap) ||
	    !image_holds(image, address, size < V8_PAGE ? size : V8_PAGE))
		return;
	chunk_list_add(list, address, size, heap);
}

static int plain_heaps_compare(const void *a, const void *b)
{
	const struct chunk *left = a, *right = b;

	if (left->heap != right->heap)
		return left->heap < right->heap ? -1 : 1;
	return (left->start > right->start) - (left->start < right->start);
}

/* One heap (of an isolate) has several pages: words that are like heads by chance do not agree. */
static void plain_heaps_claim_v8(struct image *image, struct claims *claims)
{
	struct chunk_list list = { 0 };
	size_t i, n, end;

	plain_heaps_visit(image, V8_PAGE, &list, plain_heaps_see_v8);
	if (list.count)
		qsort(list.items, list.count, sizeof(*list.items), plain_heaps_compare);
	for (i = 0; i < list.count; i = end) {
		for (end = i; end < list.count && list.items[end].heap == list.items[i].heap; end++)
			;
		for (n = i; n < end && end - i >= V8_PAGES_MIN; n++)
			claims_add(claims, PURPOSE_V8_HEAP, list.items[n].start,
				   list.items[n].start + list.items[n].size, (uint32_t)n);
	}
	free(list.items);
}

static bool plain_heaps_has_java(const struct image *image)
{
	static const char library[] = "/libjvm.so";
	size_t i, length;

	for (i = 0; i < image->mapping_count; i++) {
		length = strlen(image->mappings[i].name);
		if (length >= sizeof(library) &&
		    !strcmp(image->mappings[i].name + length - (sizeof(library) - 1), library))
			return true;
	}
	return false;
}

void plain_heaps_claim(struct image *image, struct claims *claims)
{
	uint64_t pointer;

	if (plain_heaps_has_java(image)) {
		pointer = exports_find(image, "gHotSpotVMStructs");
		if (!pointer)
			return;
		java_heap_claim(image, image_word(image, pointer), claims);
		/* Of what classes lead to, they get what nobody has. */
		java_classes_claim(image, image_word(image, pointer), claims);
		return;
	}
	plain_heaps_claim_php(image, claims);
	plain_heaps_claim_v8(image, claims);
}
