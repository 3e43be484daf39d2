/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of an interpreter for fuzzing: a sound image into which the input writes words. Pointers into the image are
 * likely values, so that structures get entangled rather than just unreadable.
 */
#ifndef TESTS_FUZZ_INTERP_MEMORY_H
#define TESTS_FUZZ_INTERP_MEMORY_H

#include <linux/types.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "interp_abi.h"
#include "fuzz.h"
#include "interp/interp_name.h"
#include "interp/target_memory.h"

#define IMAGE_BASE 0x7f0000000000ull
#define IMAGE_SIZE 8192u

struct image {
	uint8_t bytes[IMAGE_SIZE];
};

static inline bool image_read(void *context, uint64_t address, void *bytes, size_t size)
{
	const struct image *image = context;
	uint64_t offset = address - IMAGE_BASE;

	if (offset > IMAGE_SIZE || size > IMAGE_SIZE - offset)
		return false;
	memcpy(bytes, image->bytes + offset, size);
	return true;
}

static inline void image_put(struct image *image, uint32_t offset, uint64_t word)
{
	memcpy(image->bytes + offset, &word, sizeof(word));
}

/* Each write takes 12 bytes of the input: where, how, and a word. Returns how many bytes of it were used. */
static inline size_t image_write(struct image *image, const uint8_t *data, size_t size)
{
	size_t at;

	for (at = 0; at + 12 <= size; at += 12) {
		uint16_t offset;
		uint64_t word;

		memcpy(&offset, data + at, sizeof(offset));
		memcpy(&word, data + at + 4, sizeof(word));
		if (data[at + 2] & 1)
			word = IMAGE_BASE + word % IMAGE_SIZE;
		if (data[at + 2] & 2)
			offset &= 0xfff8;
		image_put(image, offset % (IMAGE_SIZE - 8), word);
	}
	return at;
}

/* A copy of the image's parts from `code` and `name` on, with the rest of the input written over it. */
static inline void image_copy(const struct image *image, struct interp_code *copy, uint64_t code,
			      uint64_t name, const uint8_t *data, size_t size)
{
	size_t i;

	memset(copy, 0, sizeof(*copy));
	for (i = 0; i < INTERP_PARTS; i++) {
		uint64_t address = i ? name : code;

		copy->parts[i].address = address;
		copy->parts[i].size = INTERP_PART_BYTES;
		memcpy(copy->parts[i].bytes, image->bytes + (address - IMAGE_BASE),
		       INTERP_PART_BYTES);
	}
	memcpy(copy->parts[size % INTERP_PARTS].bytes, data, size);
	copy->parts[size % INTERP_PARTS].size = size ? data[0] * 3u : 0;
}

/* Texts of a name end in it. */
static inline void check_name(const struct interp_name *name)
{
	MUST(memchr(name->file, 0, sizeof(name->file)));
	MUST(memchr(name->function, 0, sizeof(name->function)));
	MUST(name->line <= INT32_MAX);
}

#endif
