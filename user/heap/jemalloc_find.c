/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where jemalloc's tree is: a pointer in a module's data to what has entries of a leaf. The extents that these lead to have their
 * own address, which is the entry's place in the tree; that gives the slot of the pointer, and so where the root begins.
 */
#include <errno.h>
#include <string.h>

#include "heap/heap_root.h"
#include "heap/jemalloc.h"

/* Limits of a search through words that somebody else chose. */
#define ENTRIES 64 /* of each leaf */
#define PAGES 16 /* of each */
#define NODE_TRIES 4 /* of leaves of a node */
#define ENOUGH 4 /* entries that agree */
struct jemalloc_try {
	const struct jemalloc_form *form;
	struct image *image;
	uint64_t leaf, slot;
	bool wide;
	unsigned int good, bad;
};

struct jemalloc_finder {
	struct image *image;
	const struct jemalloc_form *form; /* of the leaf that was found last */
	/*
	 * Some entries of a leaf agree, but too few. While the process works and the tracer waits
	 * for a CPU, an entry and its extent are read at two moments, and may disagree.
	 */
	bool resembled;
};

/* Entry `index` of a leaf leads to a record whose extent holds a page with that index. */
static bool jemalloc_try_entry(struct jemalloc_try *try, uint64_t index, uint64_t entry)
{
	unsigned int bits = try->wide ? 15 : 18;
	struct jemalloc_extent extent;
	uint64_t first, page;

	/* A plain pointer would be the entry of a block of eight bytes outside of a slab. */
	if (!(entry >> 48) && !(entry & 1))
		return false;
	if (!jemalloc_extent_read(try->form, try->image, entry, &extent))
		return false;
	first = extent.address >> 12;
	page = first >> bits << bits | index;
	if (page < first)
		page += 1u << bits;
	if (page - first >= extent.size >> 12 || (try->good && try->slot != page >> bits))
		return false;
	if (page == first && !jemalloc_extent_agrees(try->form, entry, &extent))
		return false;
	try->slot = page >> bits;
	return page >> 36 == 0;
}

/* False = the leaf is judged. */
static bool jemalloc_try_word(struct jemalloc_try *try, uint64_t address, uint64_t word)
{
	if (!jemalloc_entry_record(try->form, word))
		return true;
	if (jemalloc_try_entry(try, (address - try->leaf) / (try->wide ? 16 : 8), word))
		try->good++;
	else
		try->bad++;
	if (try->bad >= 8 && !try->good)
		return false;
	return try->good + try->bad < ENTRIES;
}

/* False = the leaf is judged. */
static bool jemalloc_try_page(struct jemalloc_try *try, uint64_t start, uint64_t end)
{
	uint64_t words[512];
	size_t count = image_read_part(try->image, start, words, end - start) / 8, i;

	for (i = 0; try->wide && i + 1 < count; i += 2)
		if (words[i] && !jemalloc_try_word(try, start + 8 * i,
						   jemalloc_entry_join(words[i], words[i + 1])))
			return false;
	for (i = 0; !try->wide && i < count; i++)
		if (words[i] && !jemalloc_try_word(try, start + 8 * i, words[i]))
			return false;
	return true;
}

/* A part of a leaf: the first pages of it that are in memory. */
static bool jemalloc_try_leaf(struct jemalloc_try *try)
{
	uint64_t at = try->leaf, start, stop;
	uint64_t end = at + (try->wide ? JEMALLOC_WIDE_LEAF : JEMALLOC_NODE);
	unsigned int left = PAGES;

	while (left-- && image_next_present(try->image, at, end, &start, &stop) && stop > at) {
		start = (start + 7) & ~7ull;
		stop = stop > (start | 4095) ? (start | 4095) + 1 : stop;
		if (!jemalloc_try_page(try, start, stop))
			break;
		at = stop;
	}
	return try->good >= ENOUGH && try->good > 4 * try->bad;
}

/* By either release's records. */
static bool jemalloc_is_leaf(void *context, uint64_t leaf, uint64_t *ret_slot)
{
	struct jemalloc_finder *finder = context;
	size_t i;

	if (leaf & 63)
		return false;
	for (i = 0; i < 2; i++) {
		struct jemalloc_try try = { .form = &jemalloc_forms[i],
					    .image = finder->image,
					    .leaf = leaf };

		if (!jemalloc_try_leaf(&try)) {
			finder->resembled |= try.good >= ENOUGH;
			continue;
		}
		finder->form = try.form;
		*ret_slot = try.slot;
		return true;
	}
	return false;
}

/* A node of a wide tree, by the first leaf that it has. */
struct jemalloc_node {
	struct image *image;
	uint64_t node, slot;
	unsigned int tries;
	bool found;
};

static bool jemalloc_node_word(void *context, uint64_t address, uint64_t word)
{
	struct jemalloc_node *node = context;
	struct jemalloc_try try = {
		.form = &jemalloc_forms[0], .image = node->image, .leaf = word, .wide = true
	};

	if (word & 63 || !image_search_anonymous(node->image, word, JEMALLOC_WIDE_LEAF))
		return false;
	node->found = jemalloc_try_leaf(&try) &&
		      try.slot % JEMALLOC_WIDE_SLOTS == (address - node->node) / 8;
	node->slot = try.slot / JEMALLOC_WIDE_SLOTS;
	return !node->found && node->tries++ < NODE_TRIES;
}

static bool jemalloc_is_node(void *context, uint64_t address, uint64_t *ret_slot)
{
	struct jemalloc_finder *finder = context;
	struct heap_range range = { address, address + JEMALLOC_WIDE_NODE };
	struct jemalloc_node node = { .image = finder->image, .node = address };

	if (!(address & 63))
		image_search_words(finder->image, &range, jemalloc_node_word, &node);
	finder->form = &jemalloc_forms[0];
	*ret_slot = node.slot;
	return node.found;
}

/* The root of a wide tree is smaller. */
static void jemalloc_search_wide(struct image *image, struct heap_layout *layout)
{
	struct jemalloc_finder finder = { .image = image };
	struct heap_root_search search = { .size = JEMALLOC_WIDE_NODE,
					   .leaf_size = JEMALLOC_WIDE_NODE,
					   .shift = 42,
					   .leaf = jemalloc_is_node,
					   .context = &finder };
	struct heap_range data;

	layout->root = heap_root_find(image, &search, &data);
	layout->form = finder.form;
	layout->wide = true;
}

/* Is a library of it mapped? */
static bool jemalloc_is_mapped(const struct image *image)
{
	const char *name;
	size_t i;

	for (i = 0; i < image->mapping_count; i++) {
		name = strrchr(image->mappings[i].name, '/');
		if (name && !strncmp(name, "/libjemalloc.so", 15))
			return true;
	}
	return false;
}

/* One block that does not begin with its page is enough. */
static bool jemalloc_is_padded(void *context, const struct jemalloc_extent *extent)
{
	bool *padded = context;

	*padded = extent->state == JEMALLOC_LIVE && !extent->slab && extent->address & 4095;
	return !*padded;
}

int jemalloc_search(struct image *image, struct heap_layout *layout, struct error *reason)
{
	struct jemalloc_visit visit = { .extent = jemalloc_is_padded, .context = &layout->padded };
	struct jemalloc_finder finder = { .image = image };
	struct heap_root_search search = { .size = JEMALLOC_NODE,
					   .leaf_size = JEMALLOC_NODE,
					   .shift = 30,
					   .leaf = jemalloc_is_leaf,
					   .context = &finder };
	struct heap_range data;

	layout->wide = false;
	layout->root = heap_root_find(image, &search, &data);
	layout->form = finder.form;
	if (!layout->root)
		jemalloc_search_wide(image, layout);
	if (layout->root) {
		jemalloc_visit(layout, image, &visit);
		return 0;
	}
	if (search.misplaced)
		return error_set(reason, ERROR_TARGET, -ENOTSUP,
				 "jemalloc's tree has leaves, but no root in the data of a module");
	if (finder.resembled)
		return error_set(reason, ERROR_TARGET, -ENOTSUP,
				 "what resembles jemalloc's tree does not lead to its extents");
	return jemalloc_is_mapped(image)
		       ? error_set(reason, ERROR_TARGET, -ENOTSUP,
				   "libjemalloc is mapped, but no tree of it is understood")
		       : -ENOENT;
}
