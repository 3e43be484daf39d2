/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Objects of tcmalloc that are free: in lists of spans and of threads, and in chains between both. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "heap/tcmalloc.h"

#define FREE_LIST 32
#define CACHE (FREE_LIST * TCMALLOC_CLASSES)
#define LINKS 256 /* bytes behind the lists, in which the next cache is */
#define CACHES_MOST 65536
#define LIST_MOST (1u << 22)
#define CENTRAL 1216
#define SPANS 112 /* how many a class has, and how many objects are in their lists */
#define CHAINS 128 /* where they begin, and how many are in use */
#define CHAINS_USED 1152
#define CHAINS_MOST 64
#define CHAIN_MOST 32 /* objects that are moved at once */
#define CHAIN_BYTES 65536
/* Lists go from page to page and back: pages that were read are kept a while. */
#define PAGES 128

struct tcmalloc_pages {
	uint64_t address[PAGES]; /* 0 = none */
	unsigned char *bytes[PAGES]; /* NULL = none was read so far */
};

struct tcmalloc_lists {
	struct image *image;
	const struct heap_layout *layout;
	struct tcmalloc_free *free;
	struct tcmalloc_pages *pages; /* NULL: lists are not followed */
};

/* The first word of an object. */
static bool tcmalloc_next(struct tcmalloc_lists *lists, uint64_t object, uint64_t *ret_next)
{
	uint64_t page = object & ~4095ull;
	size_t i = page / 4096 % PAGES;

	/* Nothing lies on the first page, and its address marks entries without bytes. */
	if (object < 4096 || object & 7 || object >> 48)
		return false;
	if (lists->pages->address[i] != page) {
		lists->pages->address[i] = 0;
		if (!lists->pages->bytes[i])
			lists->pages->bytes[i] = memory_alloc(1, 4096);
		if (!image_read(lists->image, page, lists->pages->bytes[i], 4096))
			return false;
		lists->pages->address[i] = page;
	}
	memcpy(ret_next, lists->pages->bytes[i] + (object & 4095), sizeof(*ret_next));
	return true;
}

/* Add the objects of a list that should have `length` of them, and end behind `last` if that is not 0. */
static void tcmalloc_follow(struct tcmalloc_lists *lists, uint64_t object, uint64_t last,
			    uint64_t length)
{
	uint64_t count = 0;

	if (!lists->pages)
		return;
	while (object && count < length) {
		if (!address_set_add(&lists->free->objects, object))
			break;
		count++;
		if (object == last || !tcmalloc_next(lists, object, &object))
			break;
	}
	lists->free->broken += count != length || (object && object != last);
}

static void tcmalloc_read_cache(struct tcmalloc_lists *lists, const unsigned char *bytes)
{
	struct tcmalloc_free *free = lists->free;
	uint64_t object;
	uint32_t length;
	size_t i;

	free->caches++;
	for (i = 1; i < TCMALLOC_CLASSES && lists->layout->sizes[i]; i++) {
		memcpy(&object, bytes + FREE_LIST * i, sizeof(object));
		memcpy(&length, bytes + FREE_LIST * i + 8, sizeof(length));
		if (length > LIST_MOST) {
			free->broken++;
			continue;
		}
		free->cached[i] += length;
		free->cached_bytes += length * lists->layout->sizes[i];
		tcmalloc_follow(lists, object, 0, length);
	}
}

/* Is there something that is a cache but for some of its classes' sizes? */
static bool tcmalloc_is_like_cache(struct tcmalloc_lists *lists, uint64_t address)
{
	unsigned char bytes[CACHE];
	size_t i, same = 0, other = 0;
	uint32_t size;

	if (address & 7 || !image_read(lists->image, address, bytes, sizeof(bytes)))
		return false;
	for (i = 1; i < TCMALLOC_CLASSES && lists->layout->sizes[i]; i++) {
		memcpy(&size, bytes + FREE_LIST * i + 24, sizeof(size));
		same += size == lists->layout->sizes[i];
		other += size != lists->layout->sizes[i];
	}
	return same > other;
}

/* Where a cache leads to: another one, or nowhere. */
static bool tcmalloc_leads_to_cache(struct tcmalloc_lists *lists, uint64_t word)
{
	uint64_t sizes[TCMALLOC_CLASSES];

	if (!word || !heap_search_anonymous(lists->image, word, CACHE))
		return false;
	if (tcmalloc_is_cache(lists->image, word, sizes) &&
	    !memcmp(sizes, lists->layout->sizes, sizeof(sizes)))
		return true;
	lists->free->broken += tcmalloc_is_like_cache(lists, word);
	return false;
}

/* Caches lead to each other by pointers behind their lists. */
static void tcmalloc_read_caches(struct tcmalloc_lists *lists)
{
	uint64_t *queue = NULL, word;
	unsigned char bytes[CACHE + LINKS];
	struct address_set seen = { 0 };
	size_t head = 0, tail = 0, capacity = 0, i, length;

	queue = memory_grow(queue, tail, &capacity, sizeof(*queue));
	queue[tail++] = lists->layout->cache;
	address_set_add(&seen, lists->layout->cache);
	while (head < tail) {
		length = image_read_part(lists->image, queue[head++], bytes, sizeof(bytes));
		if (length < CACHE)
			continue;
		tcmalloc_read_cache(lists, bytes);
		for (i = CACHE; i + 8 <= length; i += 8) {
			memcpy(&word, bytes + i, sizeof(word));
			if (tail < CACHES_MOST && !address_set_has(&seen, word) &&
			    tcmalloc_leads_to_cache(lists, word) && address_set_add(&seen, word)) {
				queue = memory_grow(queue, tail, &capacity, sizeof(*queue));
				queue[tail++] = word;
			}
		}
	}
	address_set_free(&seen);
	free(queue);
}

static void tcmalloc_read_chains(struct tcmalloc_lists *lists, size_t size_class)
{
	uint64_t at = lists->layout->central + CENTRAL * size_class, chain[2], length;
	int32_t used = (int32_t)image_word(lists->image, at + CHAINS_USED), i;

	length = CHAIN_BYTES / lists->layout->sizes[size_class];
	length = length < 2 ? 2 : length > CHAIN_MOST ? CHAIN_MOST : length;
	if (used < 0 || used > CHAINS_MOST) {
		lists->free->broken++;
		return;
	}
	for (i = 0; i < used; i++) {
		if (!image_read(lists->image, at + CHAINS + sizeof(chain) * i, chain,
				sizeof(chain))) {
			lists->free->broken++;
			continue;
		}
		lists->free->cached[size_class] += length;
		tcmalloc_follow(lists, chain[0], chain[1], length);
	}
}

static void tcmalloc_read_span(struct tcmalloc_lists *lists, const struct tcmalloc_span *span)
{
	uint64_t size = lists->layout->sizes[span->size_class];

	if (span->location == TCMALLOC_IN_USE && span->size_class && size)
		tcmalloc_follow(lists, span->objects, 0, span->size / size - span->references);
}

/*
 * Each class counts its spans, and the objects in their lists. Where most classes have other numbers, these are not what they are
 * taken for.
 */
static void tcmalloc_check_classes(struct tcmalloc_lists *lists, const struct tcmalloc_spans *spans)
{
	uint64_t counts[TCMALLOC_CLASSES][2] = { 0 }, counters[2], size, agree = 0, differ = 0;
	size_t i;

	for (i = 0; i < spans->count; i++) {
		const struct tcmalloc_span *span = &spans->items[i];

		size = lists->layout->sizes[span->size_class];
		if (span->location != TCMALLOC_IN_USE || !size)
			continue;
		counts[span->size_class][0]++;
		counts[span->size_class][1] += span->size / size - span->references;
	}
	for (i = 1; i < TCMALLOC_CLASSES && lists->layout->sizes[i]; i++) {
		if (!image_read(lists->image, lists->layout->central + CENTRAL * i + SPANS,
				counters, sizeof(counters)) ||
		    memcmp(counters, counts[i], sizeof(counters)))
			differ++;
		else
			agree += counters[0] > 0;
	}
	lists->free->broken += differ < agree ? differ : 0;
}

static void tcmalloc_read_all_chains(struct tcmalloc_lists *lists)
{
	size_t i;

	for (i = 1; i < TCMALLOC_CLASSES && lists->layout->sizes[i]; i++)
		tcmalloc_read_chains(lists, i);
}

void tcmalloc_free_count(const struct heap_layout *layout, struct image *image,
			 struct tcmalloc_free *ret_free)
{
	struct tcmalloc_lists lists = { .image = image, .layout = layout, .free = ret_free };

	memset(ret_free, 0, sizeof(*ret_free));
	tcmalloc_read_caches(&lists);
	tcmalloc_read_all_chains(&lists);
}

void tcmalloc_free_read(const struct heap_layout *layout, struct image *image,
			const struct tcmalloc_spans *spans, struct tcmalloc_free *ret_free)
{
	struct tcmalloc_lists lists = { .image = image, .layout = layout, .free = ret_free };
	size_t i;

	memset(ret_free, 0, sizeof(*ret_free));
	lists.pages = memory_alloc(1, sizeof(*lists.pages));
	tcmalloc_read_caches(&lists);
	tcmalloc_read_all_chains(&lists);
	for (i = 0; i < spans->count; i++)
		tcmalloc_read_span(&lists, &spans->items[i]);
	tcmalloc_check_classes(&lists, spans);
	for (i = 0; i < PAGES; i++)
		free(lists.pages->bytes[i]);
	free(lists.pages);
}
