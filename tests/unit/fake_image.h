/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process's memory that a test makes up, as an image:
 *
 *	struct fake_image *fake = fake_image_new();
 *	fake_image_map(fake, 0x10000, 0x4000, "[heap]", FAKE_WRITABLE);	pages that are present, full of zeroes
 *	fake_image_put_word(fake, 0x10008, 0x291);
 *	fake_image_absent(fake, 0x12000, 0x1000);			or fake_image_swapped, fake_image_pages
 *	... fake_image_open(fake) ...					a struct image *, which the fake owns
 *	fake_image_free(fake);
 *
 * Mappings may be added in any order. What is put later is read at once; what is mapped or absent later is seen after the next
 * fake_image_open, or image_refresh. Pages are 4096 bytes. `dies` makes the process end: image_refresh fails, reads give nothing.
 */
#ifndef TESTS_FAKE_IMAGE_H
#define TESTS_FAKE_IMAGE_H

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "image/image.h"

#define FAKE_PAGE 4096ull

enum fake_image_flags {
	FAKE_WRITABLE = 1,
	FAKE_EXECUTABLE = 2,
	FAKE_SHARED = 4,
	FAKE_FILE =
		8, /* of a file: it has an inode, made of its name, and its pages are those of a file */
	FAKE_UNREADABLE = 16,
	FAKE_DEVICE = 32,
	FAKE_UNCHANGED = 64,
};

/* Pages of a state, IMAGE_* bits; 0 = absent. */
struct fake_state {
	uint64_t start, end;
	unsigned int bits;
};

struct fake_image {
	struct image *image;
	struct image_mapping *mappings; /* in the order of addresses; names are the caller's */
	size_t mapping_count, mapping_capacity;
	struct fake_state *states; /* a later one wins */
	size_t state_count, state_capacity;
	struct table pages; /* address -> what was put there, 4096 bytes */
	size_t reads; /* calls of the source's read */
	bool dies;
	/* Pages from here on are not listed, as where there is no time; 0 = all are. */
	uint64_t unlisted;
	/* A page that the kernel moves: it is listed, and so many reads of it give nothing. */
	uint64_t moving;
	size_t moving_reads;
	/* Called before a read of `address`; NULL = nothing changes meanwhile. */
	void (*on_read)(struct fake_image *fake, uint64_t address);
};

static const struct fake_state *fake_image_state(const struct fake_image *fake, uint64_t address)
{
	size_t i;

	for (i = fake->state_count; i--;)
		if (address >= fake->states[i].start && address < fake->states[i].end)
			return &fake->states[i];
	return NULL;
}

static size_t fake_image_read(void *context, uint64_t address, void *bytes, size_t size)
{
	struct fake_image *fake = context;
	const struct fake_state *state;
	const unsigned char *page;
	size_t done, part;

	fake->reads++;
	if (fake->on_read)
		fake->on_read(fake, address);
	for (done = 0; done < size && !fake->dies; done += part) {
		state = fake_image_state(fake, address + done);
		if (!state || !(state->bits & IMAGE_PRESENT))
			break;
		if (fake->moving_reads &&
		    (address + done) / FAKE_PAGE == fake->moving / FAKE_PAGE) {
			fake->moving_reads--;
			break;
		}
		part = FAKE_PAGE - (address + done) % FAKE_PAGE;
		part = part < size - done ? part : size - done;
		page = table_get(&fake->pages, (address + done) / FAKE_PAGE);
		if (page)
			memcpy((char *)bytes + done, page + (address + done) % FAKE_PAGE, part);
		else
			memset((char *)bytes + done, 0, part);
	}
	return done;
}

static size_t fake_image_read_anonymous(void *context, uint64_t address, void *bytes, size_t size)
{
	const struct fake_state *state = fake_image_state(context, address);

	if (!state || state->bits & IMAGE_FILE)
		return 0;
	return fake_image_read(context, address, bytes,
			       size < state->end - address ? size : state->end - address);
}

static bool fake_image_mappings(void *context, struct image *image)
{
	struct fake_image *fake = context;
	size_t i;

	for (i = 0; i < fake->mapping_count && !fake->dies; i++)
		image_add_mapping(image, &fake->mappings[i]);
	return !fake->dies;
}

/* The end of what is like the page at `address`. */
static uint64_t fake_image_border(const struct fake_image *fake, uint64_t address, uint64_t end)
{
	size_t i;

	for (i = 0; i < fake->state_count; i++) {
		if (fake->states[i].start > address && fake->states[i].start < end)
			end = fake->states[i].start;
		if (fake->states[i].end > address && fake->states[i].end < end)
			end = fake->states[i].end;
	}
	return end;
}

static bool fake_image_list(void *context, struct image *image, uint64_t start, uint64_t end)
{
	struct fake_image *fake = context;
	const struct fake_state *state;
	uint64_t border;

	if (fake->unlisted && end > fake->unlisted)
		return false;
	for (; start < end; start = border) {
		border = fake_image_border(fake, start, end);
		state = fake_image_state(fake, start);
		image_add_pages(image, start, border, state ? state->bits : 0);
	}
	return true;
}

static bool fake_image_alive(void *context)
{
	const struct fake_image *fake = context;

	return !fake->dies;
}

static const struct image_source fake_image_source = {
	.read = fake_image_read,
	.read_anonymous = fake_image_read_anonymous,
	.mappings = fake_image_mappings,
	.pages = fake_image_list,
	.alive = fake_image_alive,
};

static inline struct fake_image *fake_image_new(void)
{
	struct fake_image *fake = memory_alloc(1, sizeof(*fake));

	fake->image = image_new(&fake_image_source, fake, FAKE_PAGE);
	return fake;
}

static inline void fake_image_free(struct fake_image *fake)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	while ((slot = table_next(&fake->pages, &cursor)))
		free(slot->value);
	table_free(&fake->pages);
	image_free(fake->image);
	free(fake->mappings);
	free(fake->states);
	free(fake);
}

/* The image, as of now. */
static inline struct image *fake_image_open(struct fake_image *fake)
{
	image_refresh(fake->image);
	return fake->image;
}

/* Give the pages of [start, start + size) these IMAGE_* bits; 0 = they are absent. */
static inline void fake_image_pages(struct fake_image *fake, uint64_t start, uint64_t size,
				    unsigned int bits)
{
	fake->states = memory_grow(fake->states, fake->state_count, &fake->state_capacity,
				   sizeof(*fake->states));
	fake->states[fake->state_count++] = (struct fake_state){ start, start + size, bits };
}

static inline void fake_image_absent(struct fake_image *fake, uint64_t start, uint64_t size)
{
	fake_image_pages(fake, start, size, 0);
}

static inline void fake_image_swapped(struct fake_image *fake, uint64_t start, uint64_t size)
{
	fake_image_pages(fake, start, size, IMAGE_SWAPPED);
}

/* A number for a file's name. */
static inline uint64_t fake_image_inode(const char *name)
{
	uint64_t inode = 1;

	while (*name)
		inode = inode * 31 + (unsigned char)*name++;
	return inode;
}

/* Returns the mapping, to change more of it before the next fake_image_map. */
static inline struct image_mapping *fake_image_map(struct fake_image *fake, uint64_t start,
						   uint64_t size, const char *name,
						   unsigned int flags)
{
	size_t at = fake->mapping_count;

	fake->mappings = memory_grow(fake->mappings, fake->mapping_count, &fake->mapping_capacity,
				     sizeof(*fake->mappings));
	for (; at && fake->mappings[at - 1].start > start; at--)
		fake->mappings[at] = fake->mappings[at - 1];
	fake->mapping_count++;
	fake->mappings[at] = (struct image_mapping){
		.start = start,
		.end = start + size,
		.device = flags & FAKE_FILE ? 0x801 : 0,
		.inode = flags & FAKE_FILE ? fake_image_inode(name) : 0,
		.readable = !(flags & FAKE_UNREADABLE),
		.writable = flags & FAKE_WRITABLE,
		.executable = flags & FAKE_EXECUTABLE,
		.shared = flags & FAKE_SHARED,
		.device_memory = flags & FAKE_DEVICE,
		.unchanged = flags & FAKE_UNCHANGED,
		.name = name,
	};
	fake_image_pages(fake, start, size, IMAGE_PRESENT | (flags & FAKE_FILE ? IMAGE_FILE : 0));
	return &fake->mappings[at];
}

static inline void fake_image_put(struct fake_image *fake, uint64_t address, const void *bytes,
				  size_t size)
{
	unsigned char *page;
	size_t done, part;

	for (done = 0; done < size; done += part) {
		part = FAKE_PAGE - (address + done) % FAKE_PAGE;
		part = part < size - done ? part : size - done;
		page = table_get(&fake->pages, (address + done) / FAKE_PAGE);
		if (!page) {
			page = memory_alloc(1, FAKE_PAGE);
			table_put(&fake->pages, (address + done) / FAKE_PAGE, page);
		}
		memcpy(page + (address + done) % FAKE_PAGE, (const char *)bytes + done, part);
	}
}

static inline void fake_image_put_word(struct fake_image *fake, uint64_t address, uint64_t word)
{
	fake_image_put(fake, address, &word, sizeof(word));
}

#endif
