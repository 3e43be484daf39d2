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
/* Each is for 4 TB: more than there are in 47 bits of address. */
#define NODES_MOST 64

struct jemalloc_visitor {
	const struct heap_layout *layout;
	struct image *image;
	struct jemalloc_visit *visit;
	uint64_t *leaves; /* visited */
	size_t capacity;
	uint64_t leaf_size;
	uint64_t leaf, first; /* the one that is visited, the first address that it is for */
	uint64_t node, node_first; /* wide: the node above, likewise */
	unsigned int nodes; /* wide: that were visited */
	uint64_t record; /* wide: the first half of an entry */
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

static bool jemalloc_visit_entry(struct jemalloc_visitor *visitor, uint64_t page,
				 uint64_t *ret_entry)
{
	uint64_t index = (page - visitor->first) >> 12, words[2];

	if (!visitor->layout->wide)
		return image_read_part(visitor->image, visitor->leaf + index * 8, ret_entry, 8) ==
		       8;
	if (image_read_part(visitor->image, visitor->leaf + index * 16, words, 16) < 16)
		return false;
	*ret_entry = jemalloc_entry_join(words[0], words[1]);
	return true;
}

/* The entry and its record change together, but not at once. */
static bool jemalloc_visit_read(struct jemalloc_visitor *visitor, uint64_t page, uint64_t entry,
				struct jemalloc_extent *extent)
{
	bool found = false;
	unsigned int i;

	for (i = 0; i < (visitor->visit->odd_entries < ODD_MOST / 2 ? TRIES : 1); i++) {
		if (!jemalloc_entry_record(visitor->layout->form, entry))
			return false;
		found = jemalloc_visit_try(visitor, page, entry, extent);
		extent->usable = found ? jemalloc_extent_usable(visitor->layout, extent) : 0;
		extent->sound = found && jemalloc_visit_is_sound(extent);
		if (extent->sound || !jemalloc_visit_entry(visitor, page, &entry))
			break;
	}
	visitor->visit->odd_entries += !extent->sound;
	if (visitor->visit->odd_entries > ODD_MOST + visitor->visit->extents)
		visitor->ended = true;
	return found;
}

static bool jemalloc_visit_page(struct jemalloc_visitor *visitor, uint64_t page, uint64_t entry)
{
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

static bool jemalloc_visit_word(void *context, uint64_t address, uint64_t entry)
{
	struct jemalloc_visitor *visitor = context;

	return jemalloc_visit_page(visitor, visitor->first + ((address - visitor->leaf) / 8 << 12),
				   entry);
}

/* Half of an entry of a wide leaf. */
static bool jemalloc_visit_half(void *context, uint64_t address, uint64_t word)
{
	struct jemalloc_visitor *visitor = context;
	uint64_t index = (address - visitor->leaf) / 16, record = visitor->record;

	visitor->record = address & 8 ? 0 : word;
	if (!(address & 8) || !record)
		return true;
	return jemalloc_visit_page(visitor, visitor->first + (index << 12),
				   jemalloc_entry_join(record, word));
}

/* Leaves do not overlap: what they hold in memory bounds what is read of them. */
static bool jemalloc_visit_is_new(const struct jemalloc_visitor *visitor, uint64_t leaf)
{
	uint64_t i;

	for (i = 0; i < visitor->visit->leaves; i++)
		if (leaf + visitor->leaf_size > visitor->leaves[i] &&
		    leaf < visitor->leaves[i] + visitor->leaf_size)
			return false;
	return true;
}

/* A leaf for addresses from `first` on. */
static bool jemalloc_visit_leaf(struct jemalloc_visitor *visitor, uint64_t leaf, uint64_t first)
{
	struct heap_range range = { leaf, leaf + visitor->leaf_size };
	struct jemalloc_visit *visit = visitor->visit;

	if (leaf >> 48 || leaf & 15 || visit->leaves >= LEAVES_MOST ||
	    !image_search_anonymous(visitor->image, leaf, visitor->leaf_size) ||
	    !jemalloc_visit_is_new(visitor, leaf)) {
		visit->odd_leaves++;
		return true;
	}
	visitor->leaves = memory_grow(visitor->leaves, visit->leaves, &visitor->capacity,
				      sizeof(*visitor->leaves));
	visitor->leaves[visit->leaves++] = leaf;
	visitor->leaf = leaf;
	visitor->first = first;
	visitor->last = visitor->record = 0;
	if (visit->leaf)
		visit->leaf(visit->context, leaf, visitor->leaf_size);
	image_search_words(visitor->image, &range,
			   visitor->layout->wide ? jemalloc_visit_half : jemalloc_visit_word,
			   visitor);
	return !visitor->ended;
}

static bool jemalloc_visit_slot(void *context, uint64_t address, uint64_t leaf)
{
	struct jemalloc_visitor *visitor = context;

	return jemalloc_visit_leaf(visitor, leaf, (address - visitor->layout->root) / 8 << 30);
}

static bool jemalloc_visit_node_slot(void *context, uint64_t address, uint64_t leaf)
{
	struct jemalloc_visitor *visitor = context;

	return jemalloc_visit_leaf(visitor, leaf,
				   visitor->node_first + ((address - visitor->node) / 8 << 27));
}

/* Nodes of a wide tree. Leaves below them do not overlap, which bounds what is read of all; a node that is a leaf, too, has none. */
static bool jemalloc_visit_node(void *context, uint64_t address, uint64_t node)
{
	struct jemalloc_visitor *visitor = context;
	struct heap_range range = { node, node + JEMALLOC_WIDE_NODE };

	visitor->node = node;
	visitor->node_first = (address - visitor->layout->root) / 8 << 42;
	if (node >> 48 || node & 7 || visitor->nodes++ >= NODES_MOST ||
	    !image_search_anonymous(visitor->image, node, JEMALLOC_WIDE_NODE)) {
		visitor->visit->odd_leaves++;
		return true;
	}
	if (visitor->visit->leaf)
		visitor->visit->leaf(visitor->visit->context, node, JEMALLOC_WIDE_NODE);
	image_search_words(visitor->image, &range, jemalloc_visit_node_slot, visitor);
	return !visitor->ended;
}

void jemalloc_visit(const struct heap_layout *layout, struct image *image,
		    struct jemalloc_visit *visit)
{
	struct jemalloc_visitor visitor = { .layout = layout, .image = image, .visit = visit };
	struct heap_range root = { layout->root, layout->root };

	visitor.leaf_size = layout->wide ? JEMALLOC_WIDE_LEAF : JEMALLOC_NODE;
	root.end += layout->wide ? JEMALLOC_WIDE_NODE : JEMALLOC_NODE;
	image_search_words(image, &root, layout->wide ? jemalloc_visit_node : jemalloc_visit_slot,
			   &visitor);
	free(visitor.leaves);
}
