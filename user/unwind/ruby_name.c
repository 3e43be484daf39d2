/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See ruby_name.h. The table of lines has an entry for each instruction at which the line changes; which
 * entry is an instruction's is the rank of its position in a bit vector ("succinct index", Ruby 2.6 on).
 */
#include "unwind/ruby_name.h"

#include <string.h>

/* Values: the low bits of an object's first word are its type; what the rest means depends on that. */
#define TYPE_MASK 0x1f
#define TYPE_STRING 0x05
#define TYPE_ARRAY 0x07
#define TYPE_INTERNAL 0x1a /* imemo; the bits from 12 on tell which */
#define INTERNAL_ISEQ 7
#define FLAG_FIRST (1u << 13) /* of a string: not embedded; of an array: embedded */

/* Instructions of one iseq, in words: far more than any compiler of a sane file emits. */
#define ISEQ_WORDS_MAX (1u << 26)

/* Parts of the index: ranks of the first positions, nine to a word; then a block for each 512 positions. */
#define INDEX_DIRECT 54
#define INDEX_BLOCKS 48
#define INDEX_BLOCK_SIZE 80

struct index_block {
	uint32_t rank, unused;
	uint64_t ranks; /* of the words but the first, nine bits each */
	uint64_t bits[8];
};

static bool ruby_is_object(uint64_t value)
{
	return value && !(value & 7);
}

/* Where a string's bytes are. */
static bool ruby_find_string(const struct ruby_layout *layout, const struct target_memory *memory,
			     uint64_t value, uint64_t *ret_address, uint64_t *ret_length)
{
	uint64_t words[4]; /* flags, class, then length and pointer, or bytes */

	if (!ruby_is_object(value) || !target_read(memory, value, words, sizeof(words)) ||
	    (words[0] & TYPE_MASK) != TYPE_STRING)
		return false;
	if (words[0] & FLAG_FIRST) {
		*ret_length = words[2];
		*ret_address = words[3];
	} else if (layout->wide_strings) {
		*ret_length = words[2];
		*ret_address = value + 24;
	} else {
		*ret_length = words[0] >> 14 & 31;
		*ret_address = value + 16;
	}
	return true;
}

/* Copy a string, cut to `size` - 1 bytes. */
static bool ruby_copy_string(const struct ruby_layout *layout, const struct target_memory *memory,
			     uint64_t value, char *text, size_t size)
{
	uint64_t address, length;

	if (!ruby_find_string(layout, memory, value, &address, &length))
		return false;
	if (length >= size)
		length = size - 1;
	if (length && !target_read(memory, address, text, length))
		return false;
	text[length] = '\0';
	return true;
}

/* A path is a string, or an array of two: as given, and absolute. */
static uint64_t ruby_path_string(const struct target_memory *memory, uint64_t value)
{
	uint64_t flags;

	if (!ruby_is_object(value))
		return 0;
	flags = target_word(memory, value);
	if ((flags & TYPE_MASK) != TYPE_ARRAY)
		return value;
	if (flags & FLAG_FIRST)
		return target_word(memory, value + 16);
	return target_word(memory, target_word(memory, value + 32));
}

/* How many entries begin at or before a position. */
static uint32_t ruby_rank(const struct target_memory *memory, uint64_t index, uint32_t position)
{
	struct index_block block;
	uint32_t bit, word;
	uint64_t at;

	if (position < INDEX_DIRECT)
		return target_word(memory, index + position / 9 * 8) >> position % 9 * 7 & 0x7f;
	at = index + INDEX_BLOCKS + (uint64_t)((position - INDEX_DIRECT) / 512) * INDEX_BLOCK_SIZE;
	if (!target_read(memory, at, &block, sizeof(block)))
		return 0;
	bit = (position - INDEX_DIRECT) % 512;
	word = bit / 64;
	return block.rank + (word ? (uint32_t)(block.ranks >> (word - 1) * 9 & 0x1ff) : 0) +
	       (uint32_t)__builtin_popcountll(block.bits[word] << (63 - bit % 64));
}

uint32_t ruby_name_line(const struct ruby_layout *layout, const struct target_memory *memory,
			uint64_t body, uint32_t position)
{
	uint64_t lines = target_word(memory, body + layout->lines);
	uint32_t count = target_half(memory, body + layout->line_count);
	uint32_t rank = 1, line;

	if (!lines || !count)
		return 0;
	if (count > 1)
		rank = ruby_rank(memory, target_word(memory, body + layout->line_index), position);
	if (!rank || rank > count)
		return 0;
	line = target_half(memory, lines + (uint64_t)(rank - 1) * layout->line_size);
	return line <= INT32_MAX ? line : 0;
}

static uint32_t ruby_first_line(const struct ruby_layout *layout,
				const struct target_memory *memory, uint64_t body)
{
	uint64_t value = target_word(memory, body + RUBY_BODY_FIRST_LINE);

	if (layout->first_line_boxed)
		value = value & 1 ? value >> 1 : 0;
	else
		value = (uint32_t)value;
	return value <= INT32_MAX ? (uint32_t)value : 0;
}

/* The position of an instruction. False if it is none of this body. */
static bool ruby_position(const struct target_memory *memory, uint64_t body, uint64_t at,
			  uint32_t *ret_position)
{
	uint64_t code = target_word(memory, body + RUBY_BODY_CODE), offset = at - code;
	uint32_t size = target_half(memory, body + RUBY_BODY_SIZE);

	if (!code || offset % 8 || size > ISEQ_WORDS_MAX || offset / 8 > size)
		return false;
	*ret_position = (uint32_t)(offset / 8);
	return true;
}

bool ruby_name_frame(const struct ruby_layout *layout, const struct target_memory *memory,
		     uint64_t code, uint64_t at, struct interp_name *ret_name)
{
	uint64_t flags, body, path;
	uint32_t position;

	if (!ruby_is_object(code))
		return false;
	flags = target_word(memory, code);
	body = target_word(memory, code + RUBY_ISEQ_BODY);
	if ((flags & TYPE_MASK) != TYPE_INTERNAL || (flags >> 12 & 15) != INTERNAL_ISEQ || !body ||
	    !ruby_position(memory, body, at, &position))
		return false;
	path = ruby_path_string(memory, target_word(memory, body + RUBY_BODY_PATH));
	if (!ruby_copy_string(layout, memory, path, ret_name->file, sizeof(ret_name->file)) ||
	    !ruby_copy_string(layout, memory, target_word(memory, body + RUBY_BODY_LABEL),
			      ret_name->function, sizeof(ret_name->function)))
		return false;
	/* The program counter is behind the instruction that is carried out. */
	ret_name->line = ruby_name_line(layout, memory, body, position ? position - 1 : 0);
	if (!ret_name->line)
		ret_name->line = ruby_first_line(layout, memory, body);
	return true;
}
