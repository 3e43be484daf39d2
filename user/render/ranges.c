/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ranges.h. */
#include "render/ranges.h"

#include <stdlib.h>

#include "base/memory.h"

/* Room for the addresses of a file. */
#define RANGE_SHIFT 36
#define PAGE 4096ull

/* A path and a build ID, which has no blank. */
static const char *ranges_key(struct ranges *ranges, const struct report_frame *frame)
{
	char *text = memory_format("%s %s", frame->build_id ? frame->build_id : "", frame->module);
	const char *kept = strings_keep(&ranges->strings, text);

	free(text);
	return kept;
}

size_t ranges_find(struct ranges *ranges, const struct report_frame *frame)
{
	const char *key;
	uintptr_t index;

	if (!frame->module || frame_is_interpreted(frame->kind))
		return SIZE_MAX;
	key = ranges_key(ranges, frame);
	index = (uintptr_t)table_get(&ranges->by_key, (uintptr_t)key);
	if (index)
		return index - 1;
	ranges->items = memory_grow(ranges->items, ranges->count, &ranges->capacity,
				    sizeof(*ranges->items));
	ranges->items[ranges->count++] = (struct range){
		.path = strings_keep(&ranges->strings, frame->module),
		.build_id = strings_keep(&ranges->strings, frame->build_id),
		.first = UINT64_MAX,
	};
	table_put(&ranges->by_key, (uintptr_t)key, (void *)(uintptr_t)ranges->count);
	return ranges->count - 1;
}

static uint64_t ranges_start(size_t index)
{
	return (uint64_t)(index + 1) << RANGE_SHIFT;
}

struct range_pages ranges_pages(const struct ranges *ranges, size_t index)
{
	const struct range *range = &ranges->items[index];
	uint64_t offset = range->first / PAGE * PAGE;

	if (range->first > range->last)
		return (struct range_pages){ 0 };
	return (struct range_pages){ .start = ranges_start(index) + offset,
				     .limit = ranges_start(index) + (range->last / PAGE + 1) * PAGE,
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
	return ranges_start(index) + offset;
}

void ranges_free(struct ranges *ranges)
{
	free(ranges->items);
	strings_free(&ranges->strings);
	table_free(&ranges->by_key);
	*ranges = (struct ranges){ 0 };
}
