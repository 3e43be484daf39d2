/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ranges.h. */
#include "render/ranges.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"

/* Room for the addresses of a file. */
#define RANGE_SHIFT 36
/* Ranges by name have numbers below 1 << RANGE_BITS: there is room above. */
#define RANGE_BITS 26
#define PAGE 4096ull

/* A path and a build ID, which has no blank. */
static const char *ranges_key(struct ranges *ranges, const struct report_frame *frame)
{
	char *text = memory_format("%s %s", frame->build_id ? frame->build_id : "", frame->module);
	const char *kept = strings_keep(&ranges->strings, text);

	free(text);
	return kept;
}

/* Where a new range begins. Number 0 has no range: what has no address is there. */
static uint64_t ranges_new_start(struct ranges *ranges, const char *key)
{
	const uint64_t mask = (1u << RANGE_BITS) - 1;
	uint64_t number = ranges->count + 1;

	if (!ranges->by_name)
		return number << RANGE_SHIFT;
	number = hash_string(HASH_BEGIN, key) & mask;
	while (!number || table_get(&ranges->by_start, number))
		number = (number + 1) & mask;
	table_put(&ranges->by_start, number, (void *)(uintptr_t)key);
	return number << RANGE_SHIFT;
}

size_t ranges_find(struct ranges *ranges, const struct report_frame *frame)
{
	const char *key;
	uint64_t start;
	uintptr_t index;

	if (!frame->module || frame_is_interpreted(frame->kind))
		return SIZE_MAX;
	key = ranges_key(ranges, frame);
	index = (uintptr_t)table_get(&ranges->by_key, (uintptr_t)key);
	if (index)
		return index - 1;
	start = ranges_new_start(ranges, key);
	ranges->items = memory_grow(ranges->items, ranges->count, &ranges->capacity,
				    sizeof(*ranges->items));
	ranges->items[ranges->count++] = (struct range){
		.path = strings_keep(&ranges->strings, frame->module),
		.build_id = strings_keep(&ranges->strings, frame->build_id),
		.start = start,
		.first = UINT64_MAX,
	};
	table_put(&ranges->by_key, (uintptr_t)key, (void *)(uintptr_t)ranges->count);
	return ranges->count - 1;
}

struct range_pages ranges_pages(const struct ranges *ranges, size_t index)
{
	const struct range *range = &ranges->items[index];
	uint64_t offset = range->first / PAGE * PAGE;

	if (range->first > range->last)
		return (struct range_pages){ 0 };
	return (struct range_pages){ .start = range->start + offset,
				     .limit = range->start + (range->last / PAGE + 1) * PAGE,
				     .offset = offset };
}

uint64_t ranges_address(struct ranges *ranges, size_t index, const struct report_frame *frame)
{
	struct range *range = &ranges->items[index];
	uint64_t offset = frame->offset - (frame->offset > 0);

	if (frame->whole || frame->offset >> RANGE_SHIFT)
		return 0;
	if (offset < range->first)
		range->first = offset;
	if (offset > range->last)
		range->last = offset;
	return range->start + offset;
}

void ranges_free(struct ranges *ranges)
{
	free(ranges->items);
	strings_free(&ranges->strings);
	table_free(&ranges->by_key);
	table_free(&ranges->by_start);
	*ranges = (struct ranges){ 0 };
}
