/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See ruby_pages.h. A page begins with the address of its struct, which is elsewhere and has the address of the page's first slot, close
 * behind the page's head.
 */
#include "ruby/ruby_pages.h"

#define STRUCT_WORDS 16 /* of the struct, among which the first slot's address is */
#define START_MAX 1280u
#define LARGE 0x10000u /* bytes of a page since 3.2 */
#define SMALL 0x4000u /* and before */

static bool pages_is_page(struct image *image, uint64_t address, uint64_t size)
{
	uint64_t place = image_word(image, address), words[STRUCT_WORDS], start;
	size_t count, i;

	if (place < 4096 || place & 7 || (place ^ address) < size)
		return false;
	count = image_read_part(image, place, words, sizeof(words)) / 8;
	for (i = 0; i < count; i++) {
		start = words[i] - address;
		if (start >= 8 && start <= START_MAX && !(start & 7))
			return true;
	}
	return false;
}

/* Heads of pages, by whether they are where pages of the large size begin. */
struct pages_found {
	size_t at_large, between;
};

/* Count those in a mapping, and claim them unless `claims` is NULL. */
static void pages_look_at(struct image *image, const struct image_mapping *mapping, uint64_t size,
			  struct claims *claims, struct pages_found *found)
{
	uint64_t at = (mapping->start + size - 1) & ~(size - 1), start, end;

	while (at < mapping->end && mapping->end - at >= size && !image_is_over(image) &&
	       image_next_present(image, at, mapping->end, &start, &end)) {
		if (start > at) {
			at = (start + size - 1) & ~(size - 1);
			continue;
		}
		if (pages_is_page(image, at, size)) {
			if (claims)
				claims_add(claims, PURPOSE_RUBY_HEAP, at, at + size, 0);
			*(at % LARGE ? &found->between : &found->at_large) += 1;
		}
		at += size;
	}
}

static struct pages_found pages_look(struct image *image, uint64_t size, struct claims *claims)
{
	struct pages_found found = { 0 };
	size_t i;

	for (i = 0; i < image->mapping_count; i++) {
		const struct image_mapping *mapping = &image->mappings[i];

		if (mapping->writable && !mapping->shared && !mapping->inode)
			pages_look_at(image, mapping, size, claims, &found);
	}
	return found;
}

size_t ruby_pages_claim(struct image *image, struct claims *claims)
{
	/* Of small pages, three of four lie between; other memory looks like a page now and then. */
	struct pages_found found = pages_look(image, SMALL, NULL);

	found = pages_look(image, found.between > found.at_large ? SMALL : LARGE, claims);
	return found.at_large + found.between;
}
