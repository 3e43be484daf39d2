/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See kind_copies.h. Most blocks have no copy: they are counted by a part of their hash first, in a table of fixed size, and only those
 * of which that part is frequent are kept.
 */
#include "kinds/kind_copies.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/seed.h"
#include "base/table.h"

#define COPIES_MIN 16
#define COPIES_CELLS (1u << 22)
/* Contents are a target's choice: only so many are distinguished. */
#define COPIES_GROUPS 65536

struct copies_search {
	const struct kind_census *census;
	bool *left_out; /* rows; owned */
	uint8_t *cells; /* how often a part of a hash was seen, up to COPIES_MIN; owned */
	uint64_t seed;
	struct kind_copies *groups; /* owned */
	size_t count;
	struct table by_key; /* position + 1 */
};

uint64_t kind_copies_seen(uint64_t size)
{
	return size < KIND_LOOK ? size : KIND_LOOK;
}

static uint64_t copies_key(const struct copies_search *search, const struct kind_block *block)
{
	return hash_secret(search->seed, hash_word(block->bytes, block->hash));
}

static bool copies_counts(const struct copies_search *search, const struct kind_block *block)
{
	return block->row == KIND_REST || !search->left_out[block->row];
}

static void copies_count(struct copies_search *search)
{
	const struct kind_blocks *list = &search->census->list;
	size_t i;

	for (i = 0; i < list->count; i++) {
		uint8_t *cell = &search->cells[copies_key(search, &list->items[i]) % COPIES_CELLS];

		*cell += *cell < COPIES_MIN;
	}
}

static void copies_add(struct copies_search *search, const struct kind_block *block, uint64_t key)
{
	uintptr_t at = (uintptr_t)table_get(&search->by_key, key);
	struct kind_copies *group;

	if (!at && search->count == COPIES_GROUPS)
		return;
	if (!at) {
		at = ++search->count;
		search->groups[at - 1] = (struct kind_copies){ .size = block->bytes,
							       .address = block->address,
							       .row = block->row };
		table_put(&search->by_key, key, (void *)at);
	}
	group = &search->groups[at - 1];
	group->blocks++;
	group->is_mixed |= group->row != block->row;
	if (block->address < group->address)
		group->address = block->address;
}

static void copies_gather(struct copies_search *search)
{
	const struct kind_blocks *list = &search->census->list;
	size_t i;

	for (i = 0; i < list->count; i++) {
		uint64_t key = copies_key(search, &list->items[i]);

		if (search->cells[key % COPIES_CELLS] >= COPIES_MIN &&
		    copies_counts(search, &list->items[i]))
			copies_add(search, &list->items[i], key);
	}
}

static int copies_compare(const void *a, const void *b)
{
	const struct kind_copies *left = a, *right = b;

	if (left->blocks * left->size != right->blocks * right->size)
		return compare_numbers(right->blocks * right->size, left->blocks * left->size);
	return compare_numbers(left->address, right->address);
}

/* Contents show nothing where there are none. */
static void copies_choose_rows(struct copies_search *search)
{
	const struct kind_census *census = search->census;
	size_t i;

	search->left_out = memory_alloc(census->row_count + 1, sizeof(*search->left_out));
	for (i = 0; i < census->row_count; i++)
		search->left_out[i] = !strcmp(census->rows[i]->kind, "zeroes") ||
				      !strcmp(census->rows[i]->kind, "not in memory");
}

size_t kind_copies_find(const struct kind_census *census,
			struct kind_copies ret_copies[KIND_COPIES_SHOWN])
{
	struct copies_search search = { .census = census, .seed = seed_new() };
	size_t i, count = 0;

	if (census->list.count < COPIES_MIN)
		return 0;
	copies_choose_rows(&search);
	search.cells = memory_alloc(COPIES_CELLS, 1);
	search.groups = memory_alloc(COPIES_GROUPS, sizeof(*search.groups));
	copies_count(&search);
	copies_gather(&search);
	qsort(search.groups, search.count, sizeof(*search.groups), copies_compare);
	for (i = 0; i < search.count && count < KIND_COPIES_SHOWN; i++)
		if (search.groups[i].blocks >= COPIES_MIN)
			ret_copies[count++] = search.groups[i];
	table_free(&search.by_key);
	free(search.left_out);
	free(search.cells);
	free(search.groups);
	return count;
}
