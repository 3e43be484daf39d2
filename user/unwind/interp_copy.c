/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See interp_copy.h. */
#include "unwind/interp_copy.h"

#include <string.h>

/* Bytes of a part that are there. */
static size_t copy_size(const struct interp_part *part)
{
	return part->size < sizeof(part->bytes) ? part->size : sizeof(part->bytes);
}

static bool copy_read(void *context, uint64_t address, void *bytes, size_t size)
{
	const struct interp_copy *copy = context;
	size_t i;

	for (i = 0; i < INTERP_PARTS; i++) {
		const struct interp_part *part = &copy->code->parts[i];
		uint64_t offset = address - part->address;

		if (offset > copy_size(part) || size > copy_size(part) - offset)
			continue;
		memcpy(bytes, part->bytes + offset, size);
		return true;
	}
	return copy->live && target_read(copy->below, address, bytes, size);
}

void interp_copy_open(struct interp_copy *copy, const struct interp_code *code,
		      const struct target_memory *below, size_t first, size_t last)
{
	const struct interp_part *part = &code->parts[INTERP_PART_CODE];
	uint8_t now[INTERP_PART_BYTES];

	*copy = (struct interp_copy){ .code = code, .below = below };
	copy->live = first < last && last <= copy_size(part) &&
		     target_read(below, part->address + first, now, last - first) &&
		     !memcmp(now, part->bytes + first, last - first);
}

struct target_memory interp_copy_memory(struct interp_copy *copy)
{
	return (struct target_memory){ copy_read, copy };
}
