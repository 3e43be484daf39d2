/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where tcmalloc's parts are, all in the data of one module: the tree, by a pointer to what has entries of a leaf; the central
 * lists, by the numbers of their classes; a thread's cache, by the sizes of its classes.
 */
#include <errno.h>
#include <string.h>

#include "heap/heap_root.h"
#include "heap/tcmalloc.h"
#include "image/window.h"

#define CANDIDATES 4096
#define WINDOW 65536
#define ENTRIES_WINDOW 65536ull /* bytes of a leaf: those of 64 MB */
#define ENOUGH 6 /* entries that agree */
#define ENTRIES 64 /* of a leaf */
#define CENTRAL_RUN 16 /* classes in the right order that are enough */
#define FREE_LIST 32 /* bytes of a thread's list */
#define CACHE (FREE_LIST * TCMALLOC_CLASSES)
#define OBJECT_MOST (256u << 10)
#define CLASSES_LEAST 40

struct tcmalloc_finder {
	struct image *image;
	struct heap_layout *layout;
	struct window window; /* of the data */
	struct window entries; /* of the leaf */
	uint64_t slot, leaf; /* the slot that was asked for last, and its leaf */
	struct address_set tried; /* that are no caches */
};

bool tcmalloc_is_cache(struct image *image, uint64_t address, uint64_t ret_sizes[TCMALLOC_CLASSES])
{
	unsigned char bytes[CACHE];
	uint32_t size, before = 0;
	size_t i, count = 1;

	/* The first classes have 0, 8 and 16 bytes. */
	if (address & 7 || address >> 48 || (uint32_t)image_word(image, address + 56) != 8 ||
	    (uint32_t)image_word(image, address + 88) != 16 ||
	    !image_read(image, address, bytes, sizeof(bytes)))
		return false;
	memset(ret_sizes, 0, sizeof(*ret_sizes) * TCMALLOC_CLASSES);
	for (i = 0; i < TCMALLOC_CLASSES; i++, before = size) {
		memcpy(&size, bytes + FREE_LIST * i + 24, sizeof(size));
		if (i == 0 ? size != 0 : size ? size <= before || size & 7 : before && i < count)
			return false;
		if (size > OBJECT_MOST || (size && i && !before && i > 1))
			return false;
		ret_sizes[i] = size;
		count += size != 0;
	}
	return count > CLASSES_LEAST;
}

struct tcmalloc_leaves {
	struct image *image;
	bool resembled; /* most entries of one agree, but too many do not */
};

static bool tcmalloc_is_leaf(void *context, uint64_t leaf, uint64_t *ret_slot)
{
	struct tcmalloc_leaves *leaves = context;
	struct image *image = leaves->image;
	uint64_t words[8192], start, end, page, slot = 0;
	unsigned int good = 0, bad = 0;
	struct tcmalloc_span span;
	size_t count, i;

	if (!image_next_present(image, leaf, leaf + TCMALLOC_LEAF, &start, &end))
		return false;
	for (; start < end && good + bad < ENTRIES; start += sizeof(words)) {
		count = end - start < sizeof(words) ? end - start : sizeof(words);
		count = image_read_part(image, start, words, count) / 8;
		for (i = 0; i < count && good + bad < ENTRIES; i++) {
			/* Of the page number, the leaf gives the low 18 bits, the span all. */
			if (!words[i])
				continue;
			page = image_word(image, words[i]);
			page = (page >> 18 << 18) + (start - leaf) / 8 + i;
			if (!tcmalloc_span_read(image, words[i], page, &span) ||
			    (good && slot != page >> 18)) {
				if (++bad >= 4 && !good)
					return false;
				continue;
			}
			slot = page >> 18;
			good++;
		}
	}
	*ret_slot = slot;
	leaves->resembled |= good >= ENOUGH && good > bad;
	return good >= ENOUGH && good > 4 * bad;
}

/* The word is the number of the first class in its central lists. */
static void tcmalloc_find_central(struct tcmalloc_finder *finder, uint64_t address, uint64_t word)
{
	const unsigned char *bytes;
	uint64_t i, number;

	if (finder->layout->central || word != 1)
		return;
	for (i = 2; i < CENTRAL_RUN; i++) {
		bytes = window_get(&finder->window, address + (i - 1) * TCMALLOC_CENTRAL,
				   sizeof(number));
		if (!bytes)
			return;
		memcpy(&number, bytes, sizeof(number));
		if (number != i)
			return;
	}
	finder->layout->central = address - 8 - TCMALLOC_CENTRAL;
}

/* Is it in a span? What tcmalloc has for itself is in none. */
static bool tcmalloc_is_in_span(struct tcmalloc_finder *finder, uint64_t address)
{
	uint64_t slot = address >> (TCMALLOC_PAGE_SHIFT + 18), entry;
	const unsigned char *bytes;

	if (slot != finder->slot) {
		finder->slot = slot;
		finder->leaf = image_word(finder->image, finder->layout->root + 8 * slot);
	}
	if (!finder->leaf)
		return false;
	entry = finder->leaf + (address >> TCMALLOC_PAGE_SHIFT) % (TCMALLOC_LEAF / 8) * 8;
	/* Neighbours are asked for in any order. */
	window_get(&finder->entries, entry & ~(ENTRIES_WINDOW - 1), sizeof(entry));
	bytes = window_get(&finder->entries, entry, sizeof(entry));
	if (!bytes)
		return false;
	memcpy(&entry, bytes, sizeof(entry));
	return entry != 0;
}

/* A thread's cache leads to all others. */
static void tcmalloc_find_cache(struct tcmalloc_finder *finder, uint64_t word)
{
	if (finder->layout->cache || finder->tried.count >= CANDIDATES || word & 7 || word >> 47 ||
	    !image_search_anonymous(finder->image, word, CACHE) ||
	    tcmalloc_is_in_span(finder, word) || !address_set_add(&finder->tried, word))
		return;
	if (tcmalloc_is_cache(finder->image, word, finder->layout->sizes))
		finder->layout->cache = word;
}

static bool tcmalloc_find_word(void *context, uint64_t address, uint64_t word)
{
	struct tcmalloc_finder *finder = context;
	const struct heap_layout *layout = finder->layout;

	tcmalloc_find_central(finder, address, word);
	tcmalloc_find_cache(finder, word);
	return !(layout->central && layout->cache);
}

/* What is beside the root. */
static void tcmalloc_find_others(struct image *image, const struct heap_range *data,
				 struct heap_layout *layout)
{
	struct tcmalloc_finder finder = { .image = image, .layout = layout, .slot = UINT64_MAX };

	window_open(&finder.window, image, WINDOW);
	window_open(&finder.entries, image, ENTRIES_WINDOW);
	image_search_words(image, data, tcmalloc_find_word, &finder);
	window_close(&finder.window);
	window_close(&finder.entries);
	address_set_free(&finder.tried);
}

int tcmalloc_search(struct image *image, struct heap_layout *layout, struct error *reason)
{
	struct tcmalloc_leaves leaves = { .image = image };
	struct heap_root_search search = { .size = TCMALLOC_ROOT,
					   .leaf_size = TCMALLOC_LEAF,
					   .shift = TCMALLOC_PAGE_SHIFT + 18,
					   .leaf = tcmalloc_is_leaf,
					   .context = &leaves };
	struct heap_range data;

	layout->root = heap_root_find(image, &search, &data);
	if (!layout->root && leaves.resembled)
		return error_set(reason, ERROR_TARGET, -ENOTSUP,
				 "what resembles tcmalloc's tree does not lead to its spans");
	if (!layout->root)
		return -ENOENT;
	tcmalloc_find_others(image, &data, layout);
	if (!layout->central || !layout->cache)
		return error_set(reason, ERROR_TARGET, -ENOTSUP,
				 "tcmalloc's tree of pages was found, but not its lists of %s",
				 layout->cache ? "all threads" : "threads");
	return 0;
}
