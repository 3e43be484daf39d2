/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ruby_sizes.h. */
#include "ruby/ruby_sizes.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "ruby/ruby_table.h"

/* Flags of types; bits from 12 on are theirs. */
#define STRING_APART (1ull << 13)
#define STRING_BORROWED (1ull << 30) /* its bytes are a literal of the interpreter */
#define ARRAY_EMBEDDED (1ull << 13)
#define HASH_TABLE (1ull << 15)
#define OBJECT_EMBEDDED (1ull << 13)
#define BIGNUM_EMBEDDED (1ull << 14)
#define INTERNAL_SHIFT 12
#define INTERNAL_MASK 15u
#define INTERNAL_ENV 0u
#define INTERNAL_TMPBUF 8u

/* Of a hash of up to eight pairs, before 3.3. */
#define SMALL_TABLE_SIZE 128
#define DIGIT_SIZE 4

#define WANTED_MAX (1u << 16)
#define WINDOW_SIZE (16u << 10)

struct ruby_wanted {
	uint64_t address, object;
	uint32_t class;
	enum ruby_want_kind kind;
};

static uint64_t sizes_sane(uint64_t count, uint64_t size)
{
	return count < RUBY_SIZE_MAX / size ? count * size : 0;
}

static void sizes_chunk(struct ruby_want *want, uint64_t address)
{
	if (address && !(address & 15))
		*want = (struct ruby_want){ RUBY_WANT_CHUNK, address - 8, 0 };
}

static uint64_t sizes_string(const struct ruby_release *layout, const struct ruby_slot *slot)
{
	if (!(slot->flags & STRING_APART) || slot->flags & (layout->shared | STRING_BORROWED))
		return 0;
	return sizes_sane(ruby_slots_word(slot, 32), 1) + 1;
}

static uint64_t sizes_array(const struct ruby_release *layout, const struct ruby_slot *slot)
{
	if (slot->flags & (ARRAY_EMBEDDED | layout->shared))
		return 0;
	/* One that lends its elements has a number of borrowers in the place of the capacity. */
	return sizes_sane(ruby_slots_word(slot, slot->flags & layout->shared_root ? 16 : 24), 8);
}

static uint64_t sizes_hash(const struct ruby_release *layout, const struct ruby_slot *slot,
			   struct ruby_want *want)
{
	struct ruby_table table;

	if (layout->tables_inside) {
		if (!(slot->flags & HASH_TABLE) || slot->size < 24 + RUBY_TABLE_SIZE ||
		    !ruby_table_open(slot->bytes + 24, &table))
			return 0;
		return table.bytes < RUBY_SIZE_MAX ? table.bytes : 0;
	}
	if (!ruby_slots_word(slot, 16))
		return 0;
	if (!(slot->flags & HASH_TABLE))
		return SMALL_TABLE_SIZE;
	*want = (struct ruby_want){ RUBY_WANT_TABLE, ruby_slots_word(slot, 16), slot->address };
	return 0;
}

static uint64_t sizes_object(const struct ruby_release *layout, const struct ruby_slot *slot,
			     struct ruby_want *want)
{
	if (slot->flags & OBJECT_EMBEDDED)
		return 0;
	if (layout->shape_size) {
		sizes_chunk(want, ruby_slots_word(slot, 16));
		return 0;
	}
	return ruby_slots_word(slot, 24) ? (uint64_t)(uint32_t)ruby_slots_word(slot, 16) * 8 : 0;
}

static uint64_t sizes_internal(const struct ruby_slot *slot, struct ruby_want *want)
{
	unsigned int kind = slot->flags >> INTERNAL_SHIFT & INTERNAL_MASK;

	if (kind == INTERNAL_ENV)
		return sizes_sane(ruby_slots_word(slot, 32), 8);
	if (kind == INTERNAL_TMPBUF)
		sizes_chunk(want, ruby_slots_word(slot, 16));
	return 0;
}

uint64_t ruby_sizes_of(const struct ruby_release *layout, const struct ruby_slot *slot,
		       struct ruby_want *ret_want)
{
	*ret_want = (struct ruby_want){ RUBY_WANT_NOTHING, 0, 0 };
	switch (slot->type) {
	case RUBY_T_STRING:
		return sizes_string(layout, slot);
	case RUBY_T_ARRAY:
		return sizes_array(layout, slot);
	case RUBY_T_HASH:
		return sizes_hash(layout, slot, ret_want);
	case RUBY_T_OBJECT:
		return sizes_object(layout, slot, ret_want);
	case RUBY_T_STRUCT:
		return slot->flags & layout->embedded_struct
			       ? 0
			       : sizes_sane(ruby_slots_word(slot, 16), 8);
	case RUBY_T_BIGNUM:
		return slot->flags & BIGNUM_EMBEDDED
			       ? 0
			       : sizes_sane(ruby_slots_word(slot, 16), DIGIT_SIZE);
	case RUBY_T_DATA:
		sizes_chunk(ret_want, ruby_slots_data(layout, slot));
		if (ret_want->kind == RUBY_WANT_CHUNK)
			ret_want->kind = RUBY_WANT_DATA;
		return 0;
	case RUBY_T_FILE:
	case RUBY_T_REGEXP:
		sizes_chunk(ret_want, ruby_slots_word(slot, 16));
		return 0;
	case RUBY_T_MATCH:
		sizes_chunk(ret_want, ruby_slots_word(slot, 24));
		return 0;
	case RUBY_T_IMEMO:
		return sizes_internal(slot, ret_want);
	default:
		return 0;
	}
}

void ruby_sizes_open(struct ruby_sizes *sizes, struct image *image, struct object_table *table)
{
	*sizes = (struct ruby_sizes){ .table = table };
	sizes->items = memory_alloc(WANTED_MAX, sizeof(sizes->items[0]));
	window_open(&sizes->window, image, WINDOW_SIZE);
}

static int sizes_compare(const void *left, const void *right)
{
	const struct ruby_wanted *a = left, *b = right;

	return compare_numbers(a->address, b->address);
}

/* A block's size with its header; flags are in the lowest three bits. */
static uint64_t sizes_read_chunk(struct ruby_sizes *sizes, uint64_t address)
{
	const unsigned char *bytes = window_get(&sizes->window, address, 8);
	uint64_t word = 0;

	if (bytes)
		memcpy(&word, bytes, sizeof(word));
	word &= ~7ull;
	return word >= 32 && !(word & 15) && word < RUBY_SIZE_MAX ? word - 8 : 0;
}

static uint64_t sizes_read_table(struct ruby_sizes *sizes, const struct ruby_wanted *wanted)
{
	const unsigned char *bytes = window_get(&sizes->window, wanted->address, RUBY_TABLE_SIZE);
	struct ruby_longest_item item = { .address = wanted->object };
	struct ruby_table table;

	if (!bytes || !ruby_table_open(bytes, &table) || table.bytes > RUBY_SIZE_MAX)
		return 0;
	item.length = table.count;
	item.bytes = RUBY_TABLE_SIZE + table.bytes;
	if (sizes->longest)
		ruby_longest_put(sizes->longest, RUBY_LONGEST_HASH, &item);
	return item.bytes;
}

static void sizes_drain(struct ruby_sizes *sizes)
{
	uint64_t bytes;
	size_t i;

	qsort(sizes->items, sizes->count, sizeof(sizes->items[0]), sizes_compare);
	window_drop(&sizes->window);
	for (i = 0; i < sizes->count; i++) {
		const struct ruby_wanted *wanted = &sizes->items[i];

		bytes = wanted->kind == RUBY_WANT_TABLE ? sizes_read_table(sizes, wanted)
							: sizes_read_chunk(sizes, wanted->address);
		sizes->table->items[wanted->class].other_bytes += bytes;
		if (wanted->kind == RUBY_WANT_DATA)
			sizes->table->items[wanted->class].native_bytes += bytes;
		sizes->failed += !bytes;
	}
	sizes->count = 0;
}

void ruby_sizes_want(struct ruby_sizes *sizes, const struct ruby_want *want, size_t class)
{
	if (want->kind == RUBY_WANT_NOTHING)
		return;
	if (sizes->count == WANTED_MAX)
		sizes_drain(sizes);
	sizes->items[sizes->count++] =
		(struct ruby_wanted){ want->address, want->object, (uint32_t) class, want->kind };
}

void ruby_sizes_close(struct ruby_sizes *sizes)
{
	sizes_drain(sizes);
	window_close(&sizes->window);
	free(sizes->items);
	*sizes = (struct ruby_sizes){ .failed = sizes->failed };
}
