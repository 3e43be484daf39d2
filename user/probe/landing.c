/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The search for jumps from elsewhere: see landing.h. */
#include "probe/landing.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The most code that is searched: a larger file keeps its entries. */
#define SEARCH_MAX (512u << 20)
#define PAGE 4096u
#define CHUNK (1u << 20)

struct segment {
	uint64_t start, end; /* file offsets */
};

static bool offset_is_in_segment(struct elf_file *file, uint64_t offset, uint64_t distance)
{
	uint64_t address;

	return elf_file_offset_to_address(file, offset, &address) && address - offset == distance;
}

/* The part of the file around `offset` that is mapped in one piece, in whole pages. */
static bool segment_find(struct elf_file *file, uint64_t offset, struct segment *ret)
{
	struct segment segment = { offset & ~(uint64_t)(PAGE - 1), offset };
	uint64_t address, distance;

	if (!elf_file_offset_to_address(file, offset, &address))
		return false;
	distance = address - offset;
	while (segment.start >= PAGE && offset - segment.start < SEARCH_MAX &&
	       offset_is_in_segment(file, segment.start - 1, distance))
		segment.start -= PAGE;
	while (segment.end - segment.start < SEARCH_MAX &&
	       offset_is_in_segment(file, segment.end, distance))
		segment.end = (segment.end & ~(uint64_t)(PAGE - 1)) + PAGE;
	*ret = segment;
	return segment.end - segment.start < SEARCH_MAX;
}

/* Are the bytes before a displacement the opcode of a jump or a call? */
static bool bytes_are_jump(const uint8_t *displacement)
{
	uint8_t last = displacement[-1], before = displacement[-2];

	return last == 0xe8 || last == 0xe9 || (before == 0x0f && (last & 0xf0) == 0x80);
}

static void landing_mark(struct landing *items, size_t count, uint64_t target)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (target >= items[i].first && target <= items[i].last)
			items[i].found = true;
}

/* Search `size` bytes that are at file offset `base`, for targets from `low` on. */
static void chunk_search(const uint8_t *bytes, size_t size, uint64_t base, uint64_t low,
			 uint64_t width, struct landing *items, size_t count)
{
	size_t at;

	for (at = 2; at + 4 <= size; at++) {
		uint64_t target;
		int32_t displacement;

		memcpy(&displacement, bytes + at, sizeof(displacement));
		target = base + at + 4 + (uint64_t)(int64_t)displacement;
		if (target - low <= width && bytes_are_jump(bytes + at))
			landing_mark(items, count, target);
	}
}

static void segment_search(struct elf_file *file, const struct segment *segment, uint64_t low,
			   uint64_t high, struct landing *items, size_t count)
{
	uint8_t *chunk = memory_alloc(CHUNK, 1);
	/* The first displacement has its opcode before it. */
	uint64_t offset = segment->start >= 2 ? segment->start - 2 : 0;
	size_t got;

	/* Chunks overlap, so that no jump is cut in two. */
	while (offset < segment->end) {
		got = elf_file_read(file, offset, chunk, CHUNK);
		if (got < 6)
			break;
		chunk_search(chunk, got, offset, low, high - low, items, count);
		offset += got - 5;
	}
	free(chunk);
}

static bool landing_is_in(const struct landing *item, const struct segment *segment)
{
	return item->first >= segment->start && item->last < segment->end;
}

void landing_search(struct elf_file *file, struct landing *items, size_t count)
{
	size_t i, j;

	for (i = 0; i < count; i++) {
		uint64_t low = items[i].first, high = items[i].last;
		struct segment segment;

		if (items[i].searched || !segment_find(file, items[i].first, &segment))
			continue;
		for (j = i; j < count; j++) {
			if (!landing_is_in(&items[j], &segment))
				continue;
			items[j].searched = true;
			low = items[j].first < low ? items[j].first : low;
			high = items[j].last > high ? items[j].last : high;
		}
		segment_search(file, &segment, low, high, items, count);
	}
}
