/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See interp_copy.h. */
#include "interp/interp_copy.h"

#include <string.h>

/* Bytes of a part that are there. */
static size_t copy_size(const struct interp_part *part)
{
	return part->size < sizeof(part->bytes) ? part->size : sizeof(part->bytes);
}

/* A part that has the byte at an address. */
static const struct interp_part *copy_part(const struct interp_code *code, uint64_t address)
{
	size_t i;

	for (i = 0; i < INTERP_PARTS; i++)
		if (address - code->parts[i].address < copy_size(&code->parts[i]))
			return &code->parts[i];
	return NULL;
}

static bool copy_read(void *context, uint64_t address, void *bytes, size_t size)
{
	struct interp_copy *copy = context;
	const struct interp_part *part;
	uint8_t *to = bytes;
	size_t length;

	for (; size && (part = copy_part(copy->code, address)); size -= length) {
		uint64_t offset = address - part->address;

		length = copy_size(part) - offset;
		if (length > size)
			length = size;
		memcpy(to, part->bytes + offset, length);
		to += length;
		address += length;
	}
	if (!size)
		return true;
	copy->asked = true;
	return copy->below && target_read(copy->below, address, to, size);
}

struct target_memory interp_copy_memory(struct interp_copy *copy)
{
	return (struct target_memory){ .read = copy_read, .context = copy };
}
