/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the searches for allocators: writable data of modules, words that may be pointers,
 * resident memory.
 */
#ifndef IMAGE_IMAGE_SEARCH_H
#define IMAGE_IMAGE_SEARCH_H

#include "image/image.h"
#include "image/thread_list.h"

/* Addresses. */
struct heap_range {
	uint64_t start, end;
};

/*
 * The next range of writable module data from mapping `*cursor` (0 at first) on: .data and the .bss
 * behind it, limited to IMAGE_SEARCH_DATA, since other mappings may have merged with it.
 */
bool image_search_data(const struct image *image, size_t *cursor, struct heap_range *ret_range);
#define IMAGE_SEARCH_DATA (256ull << 20)

/* Called for each nonzero word at an address divisible by eight. False = stop. */
typedef bool image_search_word(void *context, uint64_t address, uint64_t word);
/* Read all resident memory of [start, end). False if `word` stopped it. */
bool image_search_words(struct image *image, const struct heap_range *range,
			image_search_word *word, void *context);

/* The same over several ranges: reads at most `*left` resident bytes, and subtracts them. */
bool image_search_within(struct image *image, const struct heap_range *range, uint64_t *left,
			 image_search_word *word, void *context);

/* Does [address, address + size) lie in one anonymous writable mapping? */
bool image_search_anonymous(const struct image *image, uint64_t address, uint64_t size);
/* Resident bytes of [start, end). */
uint64_t image_search_resident(struct image *image, uint64_t start, uint64_t end);

/* The static TLS blocks of all running threads; the caller frees them with free(). */
struct heap_range *image_search_tls(struct image *image, const struct thread_list *threads,
				    size_t *ret_count);

#endif
