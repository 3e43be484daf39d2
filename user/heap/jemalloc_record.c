/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the records of extents are laid out in jemalloc 5.2 and 5.3, and what sizes blocks have. */
#include <string.h>

#include "heap/jemalloc.h"

/* Larger blocks than those of slabs. */
#define LARGE_MIN 16384

const struct jemalloc_form jemalloc_forms[2] = {
	{ .version = "5.3",
	  .entry_flags = 0x7f,
	  .state_bits = 3,
	  .state_shift = 17,
	  .class_shift = 20,
	  .free_shift = 28,
	  .low_bits = true },
	{ .version = "5.2",
	  .entry_flags = 1,
	  .state_bits = 2,
	  .state_shift = 16,
	  .class_shift = 18,
	  .free_shift = 26 },
};

/* 8; 16 to 64 in steps of 16; from there on four classes for each power of two. */
uint64_t jemalloc_class_size(unsigned int size_class)
{
	unsigned int group, step;

	if (size_class >= JEMALLOC_CLASSES)
		return 0;
	if (size_class == 0)
		return 8;
	group = (size_class - 1) / 4;
	step = (size_class - 1) % 4 + 1;
	return group ? (1ull << (group + 5)) + ((uint64_t)step << (group + 3)) : 16 * step;
}

uint64_t jemalloc_extent_usable(const struct heap_layout *layout,
				const struct jemalloc_extent *extent)
{
	uint64_t size = jemalloc_class_size(extent->size_class), offset = extent->address & 4095;
	uint64_t pages = extent->size - (layout->padded ? 4096 : 0);

	if (size < LARGE_MIN || !layout->form->low_bits)
		return size + offset <= extent->size ? size : 0;
	if (!layout->padded && size <= extent->size)
		return offset ? 0 : size;
	return pages <= size && pages > jemalloc_class_size(extent->size_class - 1) ? pages : 0;
}

uint64_t jemalloc_entry_record(const struct jemalloc_form *form, uint64_t entry)
{
	return (entry & 0x0000ffffffffffffull) & ~form->entry_flags;
}

/* Of the rest: whether it is a slab, and its state, as in the low bits of an entry; above them the class. */
uint64_t jemalloc_entry_join(uint64_t record, uint64_t rest)
{
	return (record & 0x0000ffffffffff80ull) | (rest & 31) | (rest >> 5 & 0xff) << 48;
}

static unsigned int jemalloc_field(uint64_t bits, unsigned int shift, unsigned int count)
{
	return bits >> shift & ((1u << count) - 1);
}

static void jemalloc_decode(const struct jemalloc_form *form, const uint64_t *words,
			    struct jemalloc_extent *extent)
{
	extent->arena = jemalloc_field(words[0], 0, 12);
	extent->slab = jemalloc_field(words[0], 12, 1);
	extent->state = jemalloc_field(words[0], form->state_shift, form->state_bits);
	extent->size_class = jemalloc_field(words[0], form->class_shift, 8);
	extent->free_count = jemalloc_field(words[0], form->free_shift, 10);
	extent->address = words[1];
	extent->size = words[2] & ~4095ull;
	memcpy(extent->bitmap, words + 8, sizeof(extent->bitmap));
}

bool jemalloc_extent_agrees(const struct jemalloc_form *form, uint64_t entry,
			    const struct jemalloc_extent *extent)
{
	if (form->entry_flags & 0x1c && extent->state != (entry >> 2 & 7))
		return false;
	if (extent->state != JEMALLOC_LIVE)
		return true;
	return extent->size_class < JEMALLOC_CLASSES && extent->size_class == entry >> 48 &&
	       extent->slab == (entry & 1);
}

/* Words of the bitmap behind those that the regions need are whatever they were. */
uint64_t jemalloc_slab_regions(const struct jemalloc_extent *extent)
{
	uint64_t region = jemalloc_class_size(extent->size_class);
	uint64_t count = region ? extent->size / region : 0, i;
	unsigned int free_count = 0;

	if (count < 1 || count > JEMALLOC_REGIONS)
		return 0;
	for (i = 0; i < (count + 63) / 64; i++)
		free_count += (unsigned int)__builtin_popcountll(extent->bitmap[i]);
	if (count % 64 && extent->bitmap[count / 64] >> count % 64)
		return 0;
	return free_count == extent->free_count ? count : 0;
}

bool jemalloc_extent_read(const struct jemalloc_form *form, struct image *image, uint64_t entry,
			  struct jemalloc_extent *ret_extent)
{
	uint64_t record = jemalloc_entry_record(form, entry);
	uint64_t words[JEMALLOC_EXTENT / 8];

	if (!record || record & 63 || entry >> 48 > JEMALLOC_CLASSES ||
	    !image_read(image, record, words, sizeof(words)))
		return false;
	jemalloc_decode(form, words, ret_extent);
	ret_extent->record = record;
	return ret_extent->size && ret_extent->address && ret_extent->address >> 48 == 0 &&
	       ret_extent->size < 1ull << 47;
}
