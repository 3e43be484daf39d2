/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See reach_walk.h. A piece is small enough to stay in the cache while it is looked at. */
#include "reach/reach_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

#define WALK_PIECE (256u << 10)
/* How often pages that have come meanwhile are read, at least and at most; between these, for so long as the first time has taken. */
#define WALK_ROUNDS_LEAST 4
#define WALK_ROUNDS_MOST 32

struct walk_range {
	uint64_t start, end;
};

/* In the order of addresses. */
struct walk_ranges {
	struct walk_range *items; /* owned */
	size_t count, capacity;
};

struct walk {
	struct image *image;
	const struct reach_walk_sink *sink;
	struct reach_walk_left *left;
	enum reach_direction direction;
	struct walk_ranges taken; /* of all rounds */
	struct walk_ranges failed; /* pages that could not be read */
	unsigned char *bytes;
};

static void ranges_add(struct walk_ranges *ranges, uint64_t start, uint64_t end)
{
	if (start >= end)
		return;
	if (ranges->count && ranges->items[ranges->count - 1].end == start) {
		ranges->items[ranges->count - 1].end = end;
		return;
	}
	ranges->items = memory_grow(ranges->items, ranges->count, &ranges->capacity,
				    sizeof(*ranges->items));
	ranges->items[ranges->count++] = (struct walk_range){ start, end };
}

/* What is in `all`, and in `old` not. */
static void ranges_subtract(const struct walk_ranges *all, const struct walk_ranges *old,
			    struct walk_ranges *ret_new)
{
	size_t i, at = 0, next;

	for (i = 0; i < all->count; i++) {
		uint64_t start = all->items[i].start, end = all->items[i].end;

		while (at < old->count && old->items[at].end <= start)
			at++;
		for (next = at; next < old->count && old->items[next].start < end; next++) {
			if (old->items[next].start > start)
				ranges_add(ret_new, start, old->items[next].start);
			start = old->items[next].end;
		}
		ranges_add(ret_new, start, end);
	}
}

/* May the process have written a pointer there? Not in the kernel's own pages. */
static bool walk_takes(const struct image_mapping *mapping)
{
	return strncmp(mapping->name, "[vvar", 5) != 0 && strcmp(mapping->name, "[vdso]") != 0 &&
	       strcmp(mapping->name, "[vsyscall]") != 0;
}

/* Of shared memory that is a device's, or not in the page table: it may hold pointers. */
static void walk_count_unread(struct walk *walk, const struct image_mapping *mapping,
			      uint64_t bytes)
{
	struct reach_walk_left *left = walk->left;

	left->unread_bytes += bytes;
	if (bytes <= left->largest_bytes)
		return;
	left->largest_bytes = bytes;
	snprintf(left->largest_name, sizeof(left->largest_name), "%s", mapping->name);
}

static void walk_list_mapping(struct walk *walk, const struct image_mapping *mapping,
			      struct walk_ranges *ranges)
{
	uint64_t at = mapping->start, present = 0;
	struct image_run run;

	if (mapping->device_memory && mapping->shared) {
		walk_count_unread(walk, mapping, mapping->end - mapping->start);
		return;
	}
	for (; image_next_run(walk->image, at, mapping->end, &run); at = run.end) {
		if (run.bits & IMAGE_SWAPPED)
			walk->left->swapped_bytes += run.end - run.start;
		if (!(run.bits & IMAGE_PRESENT))
			continue;
		present += run.end - run.start;
		if (!(run.bits & IMAGE_ZERO) && (!(run.bits & IMAGE_FILE) || mapping->shared))
			ranges_add(ranges, run.start, run.end);
	}
	if (mapping->shared && (mapping->writable || !mapping->unchanged))
		walk_count_unread(walk, mapping, mapping->end - mapping->start - present);
}

/* What there is to read now, and what is not. */
static void walk_list(struct walk *walk, struct walk_ranges *ranges)
{
	size_t i;

	walk->left->swapped_bytes = walk->left->unread_bytes = walk->left->largest_bytes = 0;
	for (i = 0; i < walk->image->mapping_count; i++)
		if (walk_takes(&walk->image->mappings[i]))
			walk_list_mapping(walk, &walk->image->mappings[i], ranges);
	for (i = 0; i < walk->failed.count; i++)
		if (image_page(walk->image, walk->failed.items[i].start) & IMAGE_PRESENT)
			walk->left->unread_bytes +=
				walk->failed.items[i].end - walk->failed.items[i].start;
}

static void walk_piece(struct walk *walk, uint64_t at, uint64_t end)
{
	const uint64_t page = walk->image->page_size;
	size_t got;

	while (at < end) {
		got = image_read_part(walk->image, at, walk->bytes, (size_t)(end - at)) &
		      ~(size_t)7;
		walk->left->read_bytes += got;
		if (got)
			walk->sink->piece(walk->sink->context, at, walk->bytes, got);
		at += got;
		if (at == end)
			break;
		/* The page has gone, or cannot be read. */
		ranges_add(&walk->failed, at, at + (page - at % page));
		at += page - at % page;
	}
}

static bool walk_range_upward(struct walk *walk, uint64_t at, uint64_t end)
{
	uint64_t next;

	for (; at < end; at = next) {
		if (image_is_over(walk->image))
			return false;
		next = end - at < WALK_PIECE ? end : at + WALK_PIECE;
		walk_piece(walk, at, next);
	}
	return true;
}

static bool walk_range_downward(struct walk *walk, uint64_t start, uint64_t at)
{
	uint64_t next;

	for (; at > start; at = next) {
		if (image_is_over(walk->image))
			return false;
		next = at - start < WALK_PIECE ? start : at - WALK_PIECE;
		walk_piece(walk, next, at);
	}
	return true;
}

static bool walk_ranges(struct walk *walk, const struct walk_ranges *ranges)
{
	bool has_all = true;
	size_t i;

	for (i = 0; has_all && i < ranges->count; i++) {
		const struct walk_range *range =
			&ranges->items[walk->direction == REACH_UPWARD ? i : ranges->count - 1 - i];

		has_all = walk->direction == REACH_UPWARD
				  ? walk_range_upward(walk, range->start, range->end)
				  : walk_range_downward(walk, range->start, range->end);
	}
	return has_all;
}

/* Read what was not there before. False: there was nothing new, or no time. */
static bool walk_round(struct walk *walk, bool *ret_has_all)
{
	struct walk_ranges now = { 0 }, added = { 0 };
	bool goes_on;

	walk_list(walk, &now);
	ranges_subtract(&now, &walk->taken, &added);
	*ret_has_all = walk_ranges(walk, &added);
	goes_on = *ret_has_all && added.count;
	free(added.items);
	free(walk->taken.items);
	walk->taken = now;
	return goes_on;
}

static bool walk_goes_on(unsigned int round, uint64_t begin_ns, uint64_t first_ns)
{
	return round < WALK_ROUNDS_LEAST ||
	       (round < WALK_ROUNDS_MOST && clock_now_ns() < first_ns + (first_ns - begin_ns));
}

bool reach_walk(struct image *image, enum reach_direction direction,
		const struct reach_walk_sink *sink, struct reach_walk_left *ret_left)
{
	struct walk walk = { .image = image,
			     .sink = sink,
			     .left = ret_left,
			     .direction = direction,
			     .bytes = memory_alloc(1, WALK_PIECE) };
	uint64_t begin_ns = clock_now_ns(), first_ns = 0;
	unsigned int round = 0;
	bool has_all;

	*ret_left = (struct reach_walk_left){ 0 };
	while (walk_round(&walk, &has_all)) {
		first_ns = round++ ? first_ns : clock_now_ns();
		if (!walk_goes_on(round, begin_ns, first_ns) || !image_refresh(image))
			break;
	}
	free(walk.taken.items);
	free(walk.failed.items);
	free(walk.bytes);
	return has_all;
}
