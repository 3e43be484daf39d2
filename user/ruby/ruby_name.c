/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See ruby_name.h. The table of lines has an entry for each instruction at which the line changes; which
 * entry is an instruction's is the rank of its position in a bit vector ("succinct index", Ruby 2.6 on).
 */
#include "ruby/ruby_name.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "interp/interp_copy.h"

/* Values: the low bits of an object's first word are its type; what the rest means depends on that. */
#define TYPE_INTERNAL 0x1a /* imemo; the bits from 12 on are its kind */
#define INTERNAL_ISEQ 7

/* Kinds of code: what is in a method, and has its label. */
enum iseq_type {
	ISEQ_BLOCK = 2,
	ISEQ_RESCUE = 4,
	ISEQ_ENSURE = 5,
	ISEQ_EVAL = 6,
	ISEQ_PLAIN = 8,
};

/* Code in code in code: a loop of damaged memory must end. */
#define NESTING_MAX 64

/* Instructions of one iseq, in words: far more than any compiler of a sane file emits. */
#define ISEQ_WORDS_MAX (1u << 26)

/* Of the index. */
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
static bool ruby_find_string(const struct ruby_release *layout, const struct target_memory *memory,
			     uint64_t value, uint64_t *ret_address, uint64_t *ret_length)
{
	uint64_t words[4]; /* flags, class, then length and pointer, or bytes */

	if (!ruby_is_object(value) || !target_read(memory, value, words, sizeof(words)) ||
	    (words[0] & RUBY_TYPE_MASK) != RUBY_TYPE_STRING)
		return false;
	if (words[0] & RUBY_FLAG) {
		*ret_length = words[2];
		*ret_address = words[3];
	} else if (layout->wide_strings) {
		*ret_length = words[2];
		*ret_address = value + RUBY_STRING_WIDE_BYTES;
	} else {
		*ret_length = words[0] >> 14 & 31;
		*ret_address = value + RUBY_STRING_BYTES;
	}
	return true;
}

/* Copy a string, cut to `size` - 1 bytes. */
static bool ruby_copy_string(const struct ruby_release *layout, const struct target_memory *memory,
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
	if ((flags & RUBY_TYPE_MASK) != RUBY_TYPE_ARRAY)
		return value;
	if (flags & RUBY_FLAG)
		return target_word(memory, value + RUBY_ARRAY_FIRST);
	return target_word(memory, target_word(memory, value + 32));
}

/* How many entries begin at or before a position. */
static uint32_t ruby_rank(const struct target_memory *memory, uint64_t index, uint32_t position)
{
	struct index_block block;
	uint32_t bit, word;
	uint64_t at;

	if (position < RUBY_INDEX_DIRECT)
		return target_word(memory, index + position / 9 * 8) >> position % 9 * 7 & 0x7f;
	at = index + RUBY_INDEX_HEAD +
	     (uint64_t)((position - RUBY_INDEX_DIRECT) / 512) * RUBY_INDEX_BLOCK;
	if (!target_read(memory, at, &block, sizeof(block)))
		return 0;
	bit = (position - RUBY_INDEX_DIRECT) % 512;
	word = bit / 64;
	return block.rank + (word ? (uint32_t)(block.ranks >> (word - 1) * 9 & 0x1ff) : 0) +
	       (uint32_t)__builtin_popcountll(block.bits[word] << (63 - bit % 64));
}

/* The line of the instruction at `position` (in words from the first) of an iseq's body. 0 = unknown. */
static uint32_t ruby_name_line(const struct ruby_release *layout,
			       const struct target_memory *memory, uint64_t body, uint32_t position)
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

/* The position of the instruction `offset` bytes from the first one. False if it is none of this body. */
static bool ruby_position(const struct target_memory *memory, uint64_t body, uint64_t offset,
			  uint32_t *ret_position)
{
	uint32_t size = target_half(memory, body + RUBY_BODY_SIZE);

	if (offset % 8 || size > ISEQ_WORDS_MAX || offset / 8 > size)
		return false;
	*ret_position = (uint32_t)(offset / 8);
	return true;
}

static bool ruby_is_part(uint32_t type)
{
	return type == ISEQ_RESCUE || type == ISEQ_ENSURE || type == ISEQ_EVAL;
}

/* The body that the code around a body has, at `offset` from the parent's field; 0 = none. */
static uint64_t ruby_around(const struct ruby_release *layout, const struct target_memory *memory,
			    uint64_t body, uint32_t offset)
{
	uint64_t around = target_word(memory, body + layout->parent + offset);

	return around ? target_word(memory, around + RUBY_ISEQ_BODY) : 0;
}

/* Blocks between a body and the method they are in, the body included; leaves the method's body in `*body`. */
static unsigned int ruby_count_blocks(const struct ruby_release *layout,
				      const struct target_memory *memory, uint64_t *body)
{
	uint64_t method = ruby_around(layout, memory, *body, 8), at = *body;
	unsigned int levels = 0, i;

	for (i = 0; i < NESTING_MAX && at && at != method; i++) {
		levels += target_half(memory, at + RUBY_BODY_TYPE) == ISEQ_BLOCK;
		at = ruby_around(layout, memory, at, 0);
	}
	if (at != method || !method)
		return 0;
	*body = method;
	return levels;
}

/*
 * The label of a body as a backtrace has it. From 3.4 on it is made when it is asked for: handlers and evaluated code have
 * the label of what is around them.
 */
static bool ruby_copy_label(const struct ruby_release *layout, const struct target_memory *memory,
			    uint64_t body, struct interp_name *name)
{
	unsigned int levels = 0, i;
	uint32_t type;
	int used = 0;

	for (i = 0; layout->parent && i < NESTING_MAX; i++) {
		type = target_half(memory, body + RUBY_BODY_TYPE);
		if (ruby_is_part(type) && ruby_around(layout, memory, body, 0))
			body = ruby_around(layout, memory, body, 0);
		else if (!levels && (type == ISEQ_BLOCK || type == ISEQ_PLAIN))
			levels = ruby_count_blocks(layout, memory, &body);
		else
			break;
		if (!levels && (type == ISEQ_BLOCK || type == ISEQ_PLAIN))
			break;
	}
	if (levels == 1)
		used = snprintf(name->function, sizeof(name->function), "block in ");
	else if (levels)
		used = snprintf(name->function, sizeof(name->function), "block (%u levels) in ",
				levels);
	return ruby_copy_string(layout, memory, target_word(memory, body + RUBY_BODY_LABEL),
				name->function + used, sizeof(name->function) - (size_t)used);
}

static uint64_t ruby_body_key(const struct target_memory *memory, uint64_t body)
{
	uint64_t words[RUBY_BODY_FIRST_LINE / 8 + 1];

	if (!target_read(memory, body, words, sizeof(words)))
		return 0;
	return hash_word(hash_word(hash_word(hash_word(body, words[RUBY_BODY_PATH / 8]),
					     words[RUBY_BODY_LABEL / 8]),
				   words[RUBY_BODY_CODE / 8]),
			 words[RUBY_BODY_FIRST_LINE / 8]);
}

uint64_t ruby_name_key(const struct target_memory *memory, uint64_t code)
{
	return ruby_body_key(memory, target_word(memory, code + RUBY_ISEQ_BODY));
}

/* Name an instruction of a body. */
static bool ruby_name_body(const struct ruby_release *layout, const struct target_memory *memory,
			   uint64_t body, uint64_t offset, struct interp_name *ret_name)
{
	uint32_t position, type;
	uint64_t path;

	if (!body || !ruby_position(memory, body, offset, &position))
		return false;
	path = ruby_path_string(memory, target_word(memory, body + RUBY_BODY_PATH));
	if (!ruby_copy_string(layout, memory, path, ret_name->file, sizeof(ret_name->file)) ||
	    !ruby_copy_label(layout, memory, body, ret_name))
		return false;
	/* From 3.4 on, a handler's frame replaces that of its method. */
	type = target_half(memory, body + RUBY_BODY_TYPE);
	ret_name->covers_next = layout->parent && (type == ISEQ_RESCUE || type == ISEQ_ENSURE);
	/* The program counter is behind the instruction that is carried out. */
	ret_name->line = ruby_name_line(layout, memory, body, position ? position - 1 : 0);
	return true;
}

bool ruby_name_frame(const struct ruby_release *layout, const struct target_memory *memory,
		     uint64_t code, uint64_t at, struct interp_name *ret_name)
{
	uint64_t flags, body;

	if (!ruby_is_object(code))
		return false;
	flags = target_word(memory, code);
	if ((flags & RUBY_TYPE_MASK) != TYPE_INTERNAL || (flags >> 12 & 15) != INTERNAL_ISEQ)
		return false;
	body = target_word(memory, code + RUBY_ISEQ_BODY);
	return ruby_name_body(layout, memory, body, at - target_word(memory, body + RUBY_BODY_CODE),
			      ret_name);
}

bool ruby_name_copy(const struct ruby_release *layout, const struct target_memory *memory,
		    const struct interp_code *code, uint64_t offset, struct interp_name *ret_name)
{
	uint64_t body = code->parts[INTERP_PART_CODE].address;
	struct interp_copy copy = { .code = code, .below = memory };
	struct target_memory both = interp_copy_memory(&copy);
	bool good = ruby_name_body(layout, &both, body, offset, ret_name);

	copy.below = NULL;
	if (!copy.asked || ruby_body_key(memory, body) == ruby_body_key(&both, body))
		return good;
	return ruby_name_body(layout, &both, body, offset, ret_name);
}
