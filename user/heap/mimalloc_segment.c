/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mimalloc's segments, wherever they are: each is checked by its cookie, its slices and their sizes. */
#include <string.h>

#include "heap/mimalloc_segment.h"

/* In the description of a segment. */
#define COOKIE 216
#define THREAD 256
#define PAGES 264
#define PAGE 80
#define BLOCK_SIZE 28 /* in that of a page */
/* Blocks of at most this size have pages of one slice; of at most the other, of eight. Larger ones have one each. */
#define SMALL_MOST 16384
#define MEDIUM_MOST 131072
#define WHOLE_PAGE (1ull << 31) /* as a size of blocks: all of the page */
#define TRIES 6
#define TRIED_MOST 64 /* pages that are tried so often; more that make no sense are read once */

const struct mimalloc_form mimalloc_forms[MIMALLOC_FORMS] = {
	{ .version = "2.0", .shifts = { { .most = 1024, .bytes = 384 } } },
	{ .version = "2.1",
	  .shifts = { { .most = 64, .blocks = 3 }, { .most = 512, .blocks = 1 } } },
};

/* In the order in which they follow the cookie. */
struct mimalloc_header {
	uint64_t cookie, slices, first, kind, entries, thread;
};

/* Since 2.1 a freed one stays, and others come to be where it was, but for its beginning. */
static bool mimalloc_huge_is_free(struct image *image, const struct mimalloc_segment *segment)
{
	uint32_t size;

	return image_read(image, segment->address + PAGES + PAGE * segment->first + BLOCK_SIZE,
			  &size, sizeof(size)) &&
	       size <= 1;
}

bool mimalloc_segment_read(const struct mimalloc_form *form, struct image *image, uint64_t address,
			   struct mimalloc_segment *ret_segment, uint64_t *ret_cookie)
{
	struct mimalloc_header header;
	uint32_t count;

	if (!image_read(image, address + COOKIE, &header, sizeof(header)) ||
	    !image_read(image, address + PAGES, &count, sizeof(count)))
		return false;
	/* The high half of `kind` is padding. */
	if (!header.first || header.first > 4 || count != header.first ||
	    (uint32_t)header.kind > 1 || header.entries > MIMALLOC_SLICES ||
	    header.entries <= header.first || header.slices < header.entries || header.slices >> 31)
		return false;
	*ret_cookie = header.cookie ^ address;
	*ret_segment = (struct mimalloc_segment){ .form = form,
						  .address = address,
						  .size = header.slices * MIMALLOC_SLICE,
						  .thread = header.thread,
						  .entries = header.entries,
						  .first = header.first,
						  .huge = (uint32_t)header.kind == 1 };
	if (ret_segment->huge && ret_segment->size > MIMALLOC_SEGMENT &&
	    mimalloc_huge_is_free(image, ret_segment))
		ret_segment->size = MIMALLOC_SEGMENT;
	return ret_segment->huge || header.slices == MIMALLOC_SLICES;
}

static uint64_t mimalloc_field(const unsigned char *bytes, size_t offset, size_t size)
{
	uint64_t word = 0;

	memcpy(&word, bytes + offset, size);
	return word;
}

static uint64_t mimalloc_shift(const struct mimalloc_form *form, uint64_t block_size)
{
	size_t i;

	for (i = 0; block_size >= 8 && i < 2; i++)
		if (block_size <= form->shifts[i].most)
			return form->shifts[i].blocks * block_size + form->shifts[i].bytes;
	return 0;
}

/* Do the blocks fit, and are they as many as a page of their size may have? */
static bool mimalloc_page_is_sound(const struct mimalloc_page *page)
{
	if (page->block_size & 7 || page->capacity * page->block_size > page->size ||
	    page->used > page->capacity || page->most != page->size / page->block_size)
		return false;
	if (page->block_size <= SMALL_MOST)
		return page->size <= MIMALLOC_SLICE;
	return page->capacity <= (page->block_size <= MEDIUM_MOST ? 64 : 1);
}

static void mimalloc_page_decode(const unsigned char *bytes, struct mimalloc_page *page)
{
	page->capacity = mimalloc_field(bytes, 10, 2);
	page->most = mimalloc_field(bytes, 12, 2);
	page->free = mimalloc_field(bytes, 16, 8);
	page->used = mimalloc_field(bytes, 24, 4);
	page->block_size = mimalloc_field(bytes, BLOCK_SIZE, 4);
	page->local_free = mimalloc_field(bytes, 32, 8);
	page->thread_free = mimalloc_field(bytes, 40, 8) & ~3ull;
	page->heap = mimalloc_field(bytes, 48, 8);
	/* 1: free slices of a segment that was freed. */
	if (page->block_size == 1)
		page->block_size = 0;
	if (page->block_size >= WHOLE_PAGE)
		page->block_size = page->size;
}

/* Of slice `index`, from its description. */
static bool mimalloc_page_make(const struct mimalloc_segment *segment, uint64_t index,
			       const unsigned char *bytes, struct mimalloc_page *ret_page,
			       uint64_t *ret_slices)
{
	uint64_t left = segment->size / MIMALLOC_SLICE - index, shift;

	*ret_page = (struct mimalloc_page){ .address = segment->address + PAGES + PAGE * index,
					    .start = segment->address + MIMALLOC_SLICE * index,
					    .huge = segment->huge };
	*ret_slices = mimalloc_field(bytes, 0, 4);
	if (segment->huge && *ret_slices > left && mimalloc_field(bytes, BLOCK_SIZE, 4) <= 1)
		*ret_slices = left;
	if (!*ret_slices || mimalloc_field(bytes, 4, 4) || *ret_slices > left)
		return false;
	ret_page->size = *ret_slices * MIMALLOC_SLICE;
	mimalloc_page_decode(bytes, ret_page);
	if (!ret_page->block_size)
		return !ret_page->capacity && !ret_page->used && !ret_page->free;
	shift = mimalloc_shift(segment->form, ret_page->block_size);
	ret_page->start += shift;
	ret_page->size -= shift;
	return mimalloc_page_is_sound(ret_page);
}

/* The last of several slices leads back to the first, as far as it is in memory. */
static bool mimalloc_page_ends(struct image *image, const struct mimalloc_segment *segment,
			       uint64_t index, uint64_t slices)
{
	uint64_t last = index + slices - 1;
	uint32_t words[2];

	if (slices < 2 || segment->huge || last >= segment->entries)
		return true;
	return !image_read(image, segment->address + PAGES + PAGE * last, words, sizeof(words)) ||
	       words[1] == PAGE * (slices - 1);
}

bool mimalloc_page_read(struct image *image, const struct mimalloc_segment *segment, uint64_t index,
			struct mimalloc_page *ret_page, uint64_t *ret_slices)
{
	unsigned char bytes[PAGE];

	*ret_slices = 1;
	return image_read(image, segment->address + PAGES + PAGE * index, bytes, sizeof(bytes)) &&
	       mimalloc_page_make(segment, index, bytes, ret_page, ret_slices) &&
	       mimalloc_page_ends(image, segment, index, *ret_slices);
}

bool mimalloc_page_again(struct image *image, struct mimalloc_page *page)
{
	struct mimalloc_page now = *page;
	unsigned char bytes[PAGE];

	if (!image_read(image, page->address, bytes, sizeof(bytes)))
		return false;
	mimalloc_page_decode(bytes, &now);
	if (now.block_size != page->block_size || !mimalloc_page_is_sound(&now))
		return false;
	*page = now;
	return true;
}

/* The page at slice `index`; `ahead`: the first `length` bytes of the descriptions. */
static bool mimalloc_visit_page(struct image *image, const struct mimalloc_segment *segment,
				uint64_t index, const unsigned char *ahead, size_t length,
				unsigned int tries, struct mimalloc_page *ret_page,
				uint64_t *ret_slices)
{
	unsigned int try;

	if ((index + 1) * PAGE <= length &&
	    mimalloc_page_make(segment, index, ahead + index * PAGE, ret_page, ret_slices))
		return true;
	for (try = 0; try < tries; try++)
		if (mimalloc_page_read(image, segment, index, ret_page, ret_slices))
			return true;
	*ret_slices = *ret_slices ? *ret_slices : 1;
	return false;
}

/* False = enough. */
static bool mimalloc_visit_pages(struct image *image, const struct mimalloc_segment *segment,
				 struct mimalloc_visit *visit)
{
	unsigned char ahead[MIMALLOC_SLICES * PAGE];
	struct mimalloc_page page;
	uint64_t index, slices;
	size_t length = 0;

	if (visit->at_once)
		length = image_read_part(image, segment->address + PAGES, ahead,
					 segment->entries * PAGE);
	for (index = segment->first; index < segment->entries; index += slices)
		if (!mimalloc_visit_page(image, segment, index, ahead, length,
					 visit->odd_pages < TRIED_MOST ? TRIES : 1, &page, &slices))
			visit->odd_pages++;
		else if (!visit->page(visit->context, &page))
			return false;
	return true;
}

/* The segment at `*at`, which becomes where the next one may be. False = enough. */
static bool mimalloc_visit_segment(const struct heap_layout *layout, struct image *image,
				   uint64_t *at, struct mimalloc_visit *visit)
{
	struct mimalloc_segment segment;
	uint64_t address = *at, cookie = layout->cookie, its;
	bool sound = mimalloc_segment_read(layout->form, image, address, &segment, &its);

	*at += MIMALLOC_SEGMENT;

	if (!sound || (cookie && its != cookie)) {
		/* What has the cookie, or all but that. */
		visit->odd_segments += cookie && (sound || (image_word(image, address + COOKIE) ^
							    address) == cookie);
		return true;
	}
	if (cookie && segment.huge)
		*at = address + segment.size;
	visit->segments++;
	if (visit->segment && !visit->segment(visit->context, &segment))
		return false;
	return !visit->page || mimalloc_visit_pages(image, &segment, visit);
}

/* The first multiple of 32 MB in [at, end) whose page is in memory; `end` if there is none. */
static uint64_t mimalloc_next(struct image *image, uint64_t at, uint64_t end)
{
	uint64_t start, stop;

	for (;;) {
		at = (at + MIMALLOC_SEGMENT - 1) & ~(MIMALLOC_SEGMENT - 1);
		if (at >= end || !image_next_present(image, at, end, &start, &stop))
			return end;
		if (start == at)
			return at;
		at = start;
	}
}

void mimalloc_visit(const struct heap_layout *layout, struct image *image,
		    struct mimalloc_visit *visit)
{
	uint64_t at;
	size_t i;

	for (i = 0; i < image->mapping_count; i++) {
		const struct image_mapping *mapping = &image->mappings[i];

		if (mapping->inode || !mapping->writable)
			continue;
		at = mapping->start;
		while ((at = mimalloc_next(image, at, mapping->end)) < mapping->end)
			if (!mimalloc_visit_segment(layout, image, &at, visit))
				return;
	}
}
