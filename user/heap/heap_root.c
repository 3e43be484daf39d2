/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See heap_root.h. The data of a module is read twice: to count its words, and for the pointers among them. */
#include "heap/heap_root.h"

#include <stdlib.h>

#include "base/memory.h"
#include "heap/address_set.h"

#define ROOT_PAGE 4096ull
#define ROOT_SLOTS 512 /* in which there is memory: that are considered */
#define ROOT_SPARE 64 /* slots of memory that was used before */
#define ROOT_TESTS (1u << 26) /* without a read, in one module's data */
#define ROOT_TRIES 256 /* of leaves, in one module's data */
#define ROOT_TRIES_ALL 4096
#define ROOT_MISPLACED 32 /* tries of pointers that no root can have */

struct heap_root {
	struct image *image;
	struct heap_root_search *search;
	struct heap_range data;
	uint32_t *before; /* words of each page's predecessors that are not 0 */
	uint64_t slots[ROOT_SLOTS]; /* of anonymous memory, ascending */
	size_t slot_count;
	struct address_set tried; /* that are no leaves */
	unsigned int tests, tries, tries_all, misplaced;
	uint64_t found;
};

static void heap_root_add_slots(struct heap_root *root, uint64_t first, uint64_t last)
{
	if (root->slot_count && first <= root->slots[root->slot_count - 1])
		first = root->slots[root->slot_count - 1] + 1;
	for (; first <= last && root->slot_count < ROOT_SLOTS; first++)
		root->slots[root->slot_count++] = first;
}

/* An allocator's memory is anonymous, and some of it is in memory. */
static void heap_root_find_slots(struct heap_root *root)
{
	const struct image *image = root->image;
	size_t i;

	for (i = 0; i < image->run_count; i++)
		if (!(image->runs[i].bits & IMAGE_FILE))
			heap_root_add_slots(root, image->runs[i].start >> root->search->shift,
					    (image->runs[i].end - 1) >> root->search->shift);
}

static uint64_t heap_root_page(const struct heap_root *root, uint64_t address)
{
	return (address - root->data.start) / ROOT_PAGE;
}

static bool heap_root_count_word(void *context, uint64_t address, uint64_t word)
{
	struct heap_root *root = context;

	(void)word;
	root->before[heap_root_page(root, address) + 1]++;
	return true;
}

static void heap_root_count(struct heap_root *root)
{
	uint64_t pages = heap_root_page(root, root->data.end + ROOT_PAGE - 1), i;

	root->before = memory_alloc(pages + 2, sizeof(*root->before));
	image_search_words(root->image, &root->data, heap_root_count_word, root);
	for (i = 0; i <= pages; i++)
		root->before[i + 1] += root->before[i];
}

/* May the root be at `start`? Pages at its borders may hold other data. */
static bool heap_root_is_sparse(const struct heap_root *root, uint64_t start)
{
	uint64_t first, last;

	if (start < root->data.start || start > root->data.end ||
	    root->data.end - start < root->search->size)
		return false;
	first = heap_root_page(root, start + ROOT_PAGE - 1);
	last = heap_root_page(root, start + root->search->size);
	return first >= last ||
	       root->before[last] - root->before[first] <= ROOT_SPARE + 2 * root->slot_count;
}

/* May the word at `address` be one of a root's, whichever slot it is? */
static bool heap_root_may_have(struct heap_root *root, uint64_t address)
{
	size_t i;

	for (i = 0; i < root->slot_count && root->tests < ROOT_TESTS; i++, root->tests++)
		if (heap_root_is_sparse(root, address - 8 * root->slots[i]))
			return true;
	return false;
}

static void heap_root_try(struct heap_root *root, uint64_t address, uint64_t leaf)
{
	struct heap_root_search *search = root->search;
	uint64_t slot;

	if (address_set_has(&root->tried, leaf))
		return;
	root->tries++;
	root->tries_all++;
	if (!search->leaf(search->context, leaf, &slot))
		address_set_add(&root->tried, leaf);
	else if (slot < search->size / 8 && heap_root_is_sparse(root, address - 8 * slot))
		root->found = address - 8 * slot;
	else
		search->misplaced = true;
}

static bool heap_root_word(void *context, uint64_t address, uint64_t word)
{
	struct heap_root *root = context;

	if (word & 7 || word >> 48 || word < 65536 ||
	    !image_search_anonymous(root->image, word, root->search->leaf_size))
		return true;
	if (heap_root_may_have(root, address) || root->misplaced++ < ROOT_MISPLACED)
		heap_root_try(root, address, word);
	return !root->found && root->tries < ROOT_TRIES && root->tries_all < ROOT_TRIES_ALL;
}

static void heap_root_look(struct heap_root *root)
{
	if (root->data.end - root->data.start < root->search->size)
		return;
	root->tests = root->tries = root->misplaced = 0;
	heap_root_count(root);
	image_search_words(root->image, &root->data, heap_root_word, root);
	free(root->before);
}

uint64_t heap_root_find(struct image *image, struct heap_root_search *search,
			struct heap_range *ret_data)
{
	struct heap_root root = { .image = image, .search = search };
	size_t cursor = 0;

	search->misplaced = false;
	heap_root_find_slots(&root);
	while (!root.found && root.tries_all < ROOT_TRIES_ALL &&
	       image_search_data(image, &cursor, &root.data))
		heap_root_look(&root);
	address_set_free(&root.tried);
	*ret_data = root.data;
	return root.found;
}
