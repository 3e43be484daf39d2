/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows by who holds their blocks: "text < app::Req +16", "data < [pointers 40 B] +24 < static prog+0x4060". A way ends at a class or
 * at something that is no block, or after three steps.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/seed.h"
#include "kinds/kind_holders.h"

#define OWNER_STEPS 3
#define OWNER_STRUCT \
	256 /* bytes: larger blocks that are no class are arrays, where the place of a pointer means nothing */
#define OWNER_NAMES 65536

struct owners {
	struct kind_holders holders;
	struct table names; /* hash of a way -> text in the census's pool */
	uint64_t seed;
	struct kind_row **rows; /* before they were divided by holders */
	size_t row_count;
};

static bool owner_is_array(const struct kind_block *block, const struct kind_held *held)
{
	return held->holder != HOLDER_CLASS && block->bytes > OWNER_STRUCT;
}

/* Append one step of a way. */
static void owner_append_step(struct owners *owners, const struct kind_held *held,
			      struct buffer *out)
{
	struct kind_census *census = owners->holders.census;
	const struct kind_block *block;
	const struct kind_row *row;
	const struct module_range *range;

	switch (held->holder) {
	case HOLDER_STACK:
		buffer_append_string(out, "< stack");
		return;
	case HOLDER_THREAD:
		buffer_append_string(out, "< thread-local storage");
		return;
	case HOLDER_RUNTIME:
		buffer_printf(out, "< %s", owners->holders.roots->items[held->by].name);
		return;
	case HOLDER_STATIC:
		range = module_ranges_at(census->modules, held->place);
		buffer_printf(out, "< static %s",
			      range ? kind_census_place(census, range, held->place) : "data");
		return;
	default:
		break;
	}
	block = &census->list.items[held->by];
	row = block->row < owners->row_count ? owners->rows[block->row] : &census->rest;
	if (owner_is_array(block, held))
		buffer_append_string(out, "< array");
	else if (row->name)
		buffer_printf(out, "< %s%s%s +%llu", held->holder == HOLDER_CLASS ? "" : row->kind,
			      held->holder == HOLDER_CLASS ? "" : " ", row->name,
			      (unsigned long long)(held->place - block->address));
	else
		buffer_printf(out, "< [%s %llu B] +%llu", row->kind,
			      (unsigned long long)block->bytes,
			      (unsigned long long)(held->place - block->address));
}

/* What makes the text of a way, as a number. */
static uint64_t owner_hash(const struct owners *owners, const struct kind_held *held,
			   const char *rest)
{
	const struct kind_block *block;
	uint64_t hash = hash_word(owners->seed, held->holder);

	hash = hash_word(hash, (uintptr_t)rest);
	if (held->holder == HOLDER_STATIC)
		return hash_word(hash, held->place);
	if (held->holder == HOLDER_RUNTIME)
		return hash_word(hash, (uintptr_t)owners->holders.roots->items[held->by].name);
	if (held->holder != HOLDER_BLOCK && held->holder != HOLDER_CLASS)
		return hash;
	block = &owners->holders.census->list.items[held->by];
	if (owner_is_array(block, held))
		return hash_word(hash, 1);
	hash = hash_word(hash_word(hash, block->row), block->bytes);
	return hash_word(hash, held->place - block->address);
}

/* The way to the holder of block `i`; NULL = none was found. */
static const char *owner_name(struct owners *owners, uint32_t i, unsigned int steps)
{
	const struct kind_held *held =
		&owners->holders.items[kind_holders_first(&owners->holders, i)];
	struct buffer text = { 0 };
	const char *rest = NULL, *name;
	uint64_t hash;

	if (held->holder == HOLDER_NONE)
		return NULL;
	if (held->holder == HOLDER_BLOCK && steps > 1)
		rest = owner_name(owners, held->by, steps - 1);
	hash = owner_hash(owners, held, rest);
	name = table_get(&owners->names, hash);
	if (name)
		return name;
	if (owners->names.count >= OWNER_NAMES)
		return strings_keep(&owners->holders.census->names, "< other");
	owner_append_step(owners, held, &text);
	if (rest)
		buffer_printf(&text, " %s", rest);
	name = strings_keep(&owners->holders.census->names, text.data);
	table_put(&owners->names, hash, (void *)(uintptr_t)name);
	buffer_free(&text);
	return name;
}

/* The row of block `i`, which is the first of those that are one. */
static struct kind_row *owner_row(struct owners *owners, uint32_t i)
{
	struct kind_census *census = owners->holders.census;
	const struct kind_held *held = &owners->holders.items[i];
	uint32_t old = census->list.items[i].row;
	const struct kind_row *row = owners->rows[old];
	struct kind_key key = { row->kind, row->name, owner_name(owners, i, OWNER_STEPS),
				row->size };

	if (held->is_linked && owners->holders.plain[old])
		key = (struct kind_key){ strcmp(row->kind, "tree node") ? "linked" : row->kind,
					 NULL, key.holder, held->is_mixed ? 0 : row->size };
	return kind_census_row(census, &key);
}

/* Names of ways need the rows as they were: the list has its new ones only in the end. */
static void owners_divide(struct owners *owners)
{
	struct kind_census *census = owners->holders.census;
	struct kind_row **rows = memory_alloc(census->list.count, sizeof(struct kind_row *));
	size_t i;

	for (i = 0; i < census->list.count; i++) {
		uint32_t first = kind_holders_first(&owners->holders, (uint32_t)i);

		if (!rows[first] && census->list.items[first].row < owners->row_count)
			rows[first] = owner_row(owners, first);
		rows[i] = rows[first] ? rows[first] : &census->rest;
	}
	for (i = 0; i < census->list.count; i++) {
		rows[i]->blocks++;
		rows[i]->bytes += census->list.items[i].bytes;
		if (!rows[i]->address)
			rows[i]->address = census->list.items[i].address;
		census->list.items[i].row = rows[i]->index;
	}
	free(rows);
}

static void owners_take_rows(struct owners *owners, struct kind_census *census)
{
	owners->rows = census->rows;
	owners->row_count = census->row_count;
	census->rows = NULL;
	census->row_count = census->row_capacity = 0;
	table_free(&census->by_key);
	census->rest.blocks = census->rest.bytes = 0;
}

bool kind_census_hold(struct kind_census *census, const struct thread_list *threads,
		      const struct kind_roots *roots)
{
	struct owners owners = { .seed = seed_new() };
	bool has_all;
	size_t i;

	if (census->every > 1 || !census->list.count)
		return !census->list.count;
	kind_blocks_sort(&census->list);
	has_all = kind_holders_find(&owners.holders, census, threads, roots);
	if (has_all) {
		owners_take_rows(&owners, census);
		owners_divide(&owners);
	}
	for (i = 0; i < owners.row_count; i++)
		free(owners.rows[i]);
	free(owners.rows);
	table_free(&owners.names);
	kind_holders_free(&owners.holders);
	return has_all;
}
