/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See reach_walk.h. A piece is small enough to stay in the cache while it is looked at. */
#include "reach/reach_walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define WALK_PIECE (256u << 10)

struct walk {
	struct image *image;
	const struct reach_walk_sink *sink;
	struct reach_walk_left *left;
	unsigned char *bytes;
};

/* May the process have written a pointer there? */
static bool walk_takes(const struct image_mapping *mapping)
{
	return !mapping->device_memory && strcmp(mapping->name, "[vvar]") != 0 &&
	       strcmp(mapping->name, "[vvar_vclock]") != 0 &&
	       strcmp(mapping->name, "[vdso]") != 0 && strcmp(mapping->name, "[vsyscall]") != 0;
}

static bool walk_run(struct walk *walk, const struct image_run *run)
{
	uint64_t at = run->start, page = walk->image->page_size;
	size_t wanted, got;

	while (at < run->end) {
		if (image_is_over(walk->image))
			return false;
		wanted = run->end - at < WALK_PIECE ? (size_t)(run->end - at) : WALK_PIECE;
		got = image_read_part(walk->image, at, walk->bytes, wanted) & ~(size_t)7;
		walk->left->read_bytes += got;
		if (got)
			walk->sink->piece(walk->sink->context, at, walk->bytes, got);
		at += got;
		if (got == wanted)
			continue;
		/* The page has gone, or cannot be read. */
		walk->left->unread_bytes += page - at % page;
		at += page - at % page;
	}
	return true;
}

static bool walk_mapping(struct walk *walk, const struct image_mapping *mapping)
{
	uint64_t at = mapping->start, present = 0;
	struct image_run run;

	for (; image_next_run(walk->image, at, mapping->end, &run); at = run.end) {
		if (run.bits & IMAGE_SWAPPED)
			walk->left->swapped_bytes += run.end - run.start;
		if (!(run.bits & IMAGE_PRESENT))
			continue;
		present += run.end - run.start;
		if (run.bits & IMAGE_ZERO || (run.bits & IMAGE_FILE && !mapping->shared))
			continue;
		if (!walk_run(walk, &run))
			return false;
	}
	if (mapping->shared && mapping->writable)
		walk->left->unread_bytes += mapping->end - mapping->start - present;
	return true;
}

bool reach_walk(struct image *image, const struct reach_walk_sink *sink,
		struct reach_walk_left *ret_left)
{
	struct walk walk = { image, sink, ret_left, memory_alloc(1, WALK_PIECE) };
	bool has_all = true;
	size_t i;

	*ret_left = (struct reach_walk_left){ 0 };
	for (i = 0; has_all && i < image->mapping_count; i++)
		if (walk_takes(&image->mappings[i]))
			has_all = walk_mapping(&walk, &image->mappings[i]);
	free(walk.bytes);
	return has_all;
}
