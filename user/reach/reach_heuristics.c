/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See reach_heuristics.h. What is read of the process may be anything, and is only compared. */
#include "reach/reach_heuristics.h"

#include <string.h>

#define WORD sizeof(uint64_t)
#define HEURISTICS_WINDOW 4096 /* blocks come in no order */

/* Of a string: length, capacity, owners; and the 0 at its end. */
#define STRING_HEAD (3 * WORD)
#define STRING_END 1

/*
 * How much more malloc may have than was asked for: a step of its sizes. glibc has steps of 16, and leaves no rest below 32; the others have at
 * least four sizes from one power of two to the next.
 */
#define STEP_LEAST 32
#define STEP_PART 5

/* Of a table: how many words are looked at, and how many of these must be functions. */
#define TABLE_WORDS 20
#define TABLE_FUNCTIONS 2
#define TABLE_LOWEST 4096
#define TABLES_KEPT 4096
#define TABLE_YES ((void *)1)
#define TABLE_NO ((void *)2)

void reach_heuristics_open(struct reach_heuristics *heuristics, struct image *image,
			   unsigned int wanted)
{
	*heuristics = (struct reach_heuristics){ .wanted = wanted, .image = image };
	window_open(&heuristics->window, image, HEURISTICS_WINDOW);
}

void reach_heuristics_close(struct reach_heuristics *heuristics)
{
	window_close(&heuristics->window);
	table_free(&heuristics->tables);
}

static bool heuristics_word(struct reach_heuristics *heuristics, uint64_t address,
			    uint64_t *ret_word)
{
	const unsigned char *bytes = window_get(&heuristics->window, address, WORD);

	if (bytes)
		memcpy(ret_word, bytes, WORD);
	return bytes;
}

/* The bytes of a block that were not asked for are fewer. */
static uint64_t heuristics_step(const struct reach_block *block)
{
	const uint64_t part = block->bytes / STEP_PART;

	return part < STEP_LEAST ? STEP_LEAST : part;
}

static bool heuristics_may_ask(const struct reach_block *block, uint64_t asked)
{
	return asked <= block->bytes && block->bytes - asked < heuristics_step(block);
}

static bool heuristics_is_string(struct reach_heuristics *heuristics,
				 const struct reach_block *block, uint64_t offset)
{
	uint64_t length, capacity;

	return offset == STRING_HEAD && heuristics_word(heuristics, block->address, &length) &&
	       heuristics_word(heuristics, block->address + WORD, &capacity) &&
	       length <= capacity && capacity < block->bytes &&
	       heuristics_may_ask(block, STRING_HEAD + capacity + STRING_END);
}

static bool heuristics_is_length(struct reach_heuristics *heuristics,
				 const struct reach_block *block, uint64_t offset)
{
	uint64_t length;

	return offset == WORD && heuristics_word(heuristics, block->address, &length) && length &&
	       length < block->bytes && heuristics_may_ask(block, WORD + length);
}

static bool heuristics_is_array(struct reach_heuristics *heuristics,
				const struct reach_block *block, uint64_t offset)
{
	const uint64_t room = block->bytes - WORD;
	uint64_t count;

	/* The largest objects for which there is room leave the least. */
	return offset == WORD && heuristics_word(heuristics, block->address, &count) && count &&
	       count <= room && heuristics_may_ask(block, WORD + room / count * count);
}

/* Only functions of files and empty words, until there are enough of the former. */
static bool heuristics_read_table(struct reach_heuristics *heuristics, uint64_t table)
{
	const struct image_mapping *mapping = image_find(heuristics->image, table);
	unsigned char words[TABLE_WORDS * WORD];
	size_t got, at, functions = 0;
	uint64_t word;

	got = mapping->end - table < sizeof(words) ? (size_t)(mapping->end - table) : sizeof(words);
	got = image_read_part(heuristics->image, table, words, got);
	for (at = 0; at + WORD <= got && functions < TABLE_FUNCTIONS; at += WORD) {
		memcpy(&word, words + at, WORD);
		if (!word)
			continue;
		mapping = image_find(heuristics->image, word);
		if (!mapping || !mapping->inode || !mapping->executable)
			return false;
		functions++;
	}
	return functions == TABLE_FUNCTIONS;
}

static bool heuristics_is_table(struct reach_heuristics *heuristics, uint64_t table)
{
	const struct image_mapping *mapping;
	const void *known;
	bool is_table;

	if (table < TABLE_LOWEST || table % WORD)
		return false;
	mapping = image_find(heuristics->image, table);
	if (!mapping || !mapping->inode || !mapping->readable)
		return false;
	known = table_get(&heuristics->tables, table);
	if (known)
		return known == TABLE_YES;
	is_table = heuristics_read_table(heuristics, table);
	if (heuristics->tables.count < TABLES_KEPT)
		table_put(&heuristics->tables, table, is_table ? TABLE_YES : TABLE_NO);
	return is_table;
}

static bool heuristics_is_base(struct reach_heuristics *heuristics, const struct reach_block *block,
			       uint64_t offset)
{
	uint64_t first, inner;

	return offset % WORD == 0 && heuristics_word(heuristics, block->address + offset, &inner) &&
	       heuristics_word(heuristics, block->address, &first) &&
	       heuristics_is_table(heuristics, inner) && heuristics_is_table(heuristics, first);
}

enum leak_heuristic reach_heuristics_judge(struct reach_heuristics *heuristics,
					   const struct reach_block *block, uint64_t offset)
{
	static bool (*const tests[])(struct reach_heuristics * heuristics,
				     const struct reach_block *block, uint64_t offset) = {
		[LEAK_HEURISTIC_STDSTRING] = heuristics_is_string,
		[LEAK_HEURISTIC_LENGTH64] = heuristics_is_length,
		[LEAK_HEURISTIC_NEWARRAY] = heuristics_is_array,
		[LEAK_HEURISTIC_MULTIPLEINHERITANCE] = heuristics_is_base,
	};
	enum leak_heuristic heuristic;

	if (!offset || offset > block->bytes || block->bytes - offset < WORD)
		return LEAK_HEURISTIC_NONE;
	for (heuristic = 0; heuristic < LEAK_HEURISTICS; heuristic++)
		if (heuristics->wanted & 1u << heuristic &&
		    tests[heuristic](heuristics, block, offset))
			return heuristic;
	return LEAK_HEURISTIC_NONE;
}
