/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All extents of jemalloc's tree: those pages of its leaves that are in memory, each entry that is an extent's first. */
#include <stdlib.h>

#include "base/memory.h"
#include "heap/jemalloc.h"

/* A record that another thread is writing is read again. */
#define TRIES 4
/* More that makes no sense is not visited. */
#define ODD_MOST 65536
/* Each is for 1 GB of addresses. */
#define LEAVES_MOST 16384

struct jemalloc_visitor {
	const struct heap_layout *layout;
	struct image *image;
	struct jemalloc_visit *visit;
	uint64_t *leaves; /* visited, each JEMALLOC_NODE bytes */
	size_t capacity;
	uint64_t leaf, slot; /* of the one that is visited */
	uint64_t last; /* entry: that of most pages is the same as of the one before */
	uint64_t until; /* pages below belong to the extent before */
	bool ended;
};

/* A live extent adds up. */
static bool jemalloc_visit_is_sound(const struct jemalloc_extent *extent)
{
	if (extent->state != JEMALLOC_LIVE)
		return extent->size_class == JEMALLOC_CLASSES && !(extent->address & 4095);
	if (extent->slab)
		return !(extent->address & 4095) && jemalloc_slab_regions(extent);
	return extent->usable;
}

/* The record that an entry leads to is one of an extent that has this page. */
static bool jemalloc_visit_try(struct jemalloc_visitor *visitor, uint64_t page, uint64_t entry,
			       struct jemalloc_extent *extent)
{
	uint64_t start;

	if (!jemalloc_extent_read(visitor->layout->form, visitor->image, entry, extent))
		return false;
	start = extent->address & ~4095ull;
	if (start == page)
		return jemalloc_extent_agrees(visitor->layout->form, entry, extent);
	return start < page && page - start < extent->size;
}

/* The entry and its record change together, but not at once. */
static bool jemalloc_visit_read(struct jemalloc_visitor *visitor, uint64_t page, uint64_t entry,
				struct jemalloc_extent *extent)
{
	uint64_t address = visitor->leaf + (page >> 12) % JEMALLOC_SLOTS * 8;
	bool found = false;
	unsigned int i;

	for (i = 0; i < (visitor->visit->odd_entries < ODD_MOST / 2 ? TRIES : 1); i++) {
		if (!jemalloc_entry_record(visitor->layout->form, entry))
			return false;
		found = jemalloc_visit_try(visitor, page, entry, extent);
		extent->usable = found ? jemalloc_extent_usable(visitor->layout, extent) : 0;
		extent->sound = found && jemalloc_visit_is_sound(extent);
		if (extent->sound || image_read_part(visitor->image, address, &entry, 8) < 8)
			break;
	}
	visitor->visit->odd_entries += !extent->sound;
	if (visitor->visit->odd_entries > ODD_MOST + visitor->visit->extents)
		visitor->ended = true;
	return found;
}

static bool jemalloc_visit_word(void *context, uint64_t address, uint64_t entry)
{
	struct jemalloc_visitor *visitor = context;
	uint64_t page = visitor->slot << 30 | (address - visitor->leaf) / 8 << 12;
	struct jemalloc_extent extent = { 0 };

	if (page < visitor->until && entry == visitor->last)
		return true;
	visitor->last = entry;
	if (!jemalloc_visit_read(visitor, page, entry, &extent))
		return !visitor->ended;
	/* Other pages of an extent have entries, too; the first one was met before. */
	if (((extent.address & ~4095ull) != page) != (page < visitor->until)) {
		visitor->visit->odd_entries++;
		return true;
	}
	if (page < visitor->until)
		return true;
	visitor->until = page + extent.size;
	visitor->visit->extents++;
	visitor->ended = !visitor->visit->extent(visitor->visit->context, &extent);
	return !visitor->ended;
}

/* Leaves do not overlap: what they hold in memory bounds what is read of them. */
static bool jemalloc_visit_is_new(const struct jemalloc_visitor *visitor, uint64_t leaf)
{
	uint64_t i;

	for (i = 0; i < visitor->visit->leaves; i++)
		if (leaf + JEMALLOC_NODE > visitor->leaves[i] &&
		    leaf < visitor->leaves[i] + JEMALLOC_NODE)
			return false;
	return true;
}

static bool jemalloc_visit_leaf(void *context, uint64_t address, uint64_t leaf)
{
	struct jemalloc_visitor *visitor = context;
	struct heap_range range = { leaf, leaf + JEMALLOC_NODE };
	struct jemalloc_visit *visit = visitor->visit;

	if (leaf >> 48 || visit->leaves >= LEAVES_MOST ||
	    !heap_search_anonymous(visitor->image, leaf, JEMALLOC_NODE) ||
	    !jemalloc_visit_is_new(visitor, leaf)) {
		visit->odd_leaves++;
		return true;
	}
	visitor->leaves = memory_grow(visitor->leaves, visit->leaves, &visitor->capacity,
				      sizeof(*visitor->leaves));
	visitor->leaves[visit->leaves++] = leaf;
	visitor->leaf = leaf;
	visitor->slot = (address - visitor->layout->root) / 8;
	visitor->last = 0;
	if (visit->leaf)
		visit->leaf(visit->context, leaf);
	heap_search_words(visitor->image, &range, jemalloc_visit_word, visitor);
	return !visitor->ended;
}

void jemalloc_visit(const struct heap_layout *layout, struct image *image,
		    struct jemalloc_visit *visit)
{
	struct jemalloc_visitor visitor = { .layout = layout, .image = image, .visit = visit };
	struct heap_range root = { layout->root, layout->root + JEMALLOC_NODE };

	heap_search_words(image, &root, jemalloc_visit_leaf, &visitor);
	free(visitor.leaves);
}
