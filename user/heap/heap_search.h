/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the searches for allocators have in common: the writable data of modules, words that may be pointers, how much is in memory. */
#ifndef HEAP_HEAP_SEARCH_H
#define HEAP_HEAP_SEARCH_H

#include "heap/image.h"
#include "heap/thread_list.h"

/* Addresses. */
struct heap_range {
	uint64_t start, end;
};

/*
 * The next range of writable data of a module from mapping `*cursor` (0 at first) on: .data and the .bss behind it, which is
 * at most HEAP_SEARCH_DATA long, since other mappings may have grown together with it.
 */
bool heap_search_data(const struct image *image, size_t *cursor, struct heap_range *ret_range);
#define HEAP_SEARCH_DATA (256ull << 20)

/* Called for each word that is not 0 at an address that is a multiple of eight. False = enough. */
typedef bool heap_search_word(void *context, uint64_t address, uint64_t word);
/* Read all of [start, end) that is in memory. False if `word` ended it. */
bool heap_search_words(struct image *image, const struct heap_range *range, heap_search_word *word,
		       void *context);

/* The same of many ranges together: `left` bytes at most that are in memory, of which is taken what was read. */
bool heap_search_within(struct image *image, const struct heap_range *range, uint64_t *left,
			heap_search_word *word, void *context);

/* Does [address, address + size) lie in one anonymous writable mapping? */
bool heap_search_anonymous(const struct image *image, uint64_t address, uint64_t size);
/* Bytes of [start, end) that are in memory. */
uint64_t heap_search_resident(struct image *image, uint64_t start, uint64_t end);

/* The static TLS blocks of all threads that run: owned by the caller (free()). */
struct heap_range *heap_search_tls(struct image *image, const struct thread_list *threads,
				   size_t *ret_count);

#endif
