/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See python_name.h. */
#include "python/python_name.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "interp/interp_copy.h"

/* A reference count is no pointer; a freed object has one, to the next freed object, in its place. */
#define REFERENCES_MAX (1ull << 40)

/* Tables are first read as far as most of them reach, and in steps as far as copies reach. */
#define LINES_FIRST (INTERP_PART_BYTES - PYTHON_BYTES)
#define LINES_COPIED \
	(LINES_FIRST + (size_t)(INTERP_PARTS - INTERP_PART_LINES_MORE) * INTERP_PART_BYTES)
#define LINES_MAX (1u << 20)

/* Code points that are read of a str: enough to fill a name. */
#define CHARACTERS_MAX INTERP_FILE_MAX

/* Bits of a str's state. */
#define STATE_KIND(state) ((state) >> 2 & 7)
#define STATE_COMPACT(state) ((state)&1u << 5)

/* Append a code point as UTF-8. Returns the length, 0 if there is no room. */
static size_t text_put(char *text, size_t room, uint32_t rune)
{
	uint8_t bytes[4];
	size_t length;

	if (rune < 0x80) {
		bytes[0] = (uint8_t)rune;
		length = 1;
	} else if (rune < 0x800) {
		bytes[0] = (uint8_t)(0xc0 | rune >> 6);
		bytes[1] = (uint8_t)(0x80 | (rune & 63));
		length = 2;
	} else if (rune < 0x10000) {
		bytes[0] = (uint8_t)(0xe0 | rune >> 12);
		bytes[1] = (uint8_t)(0x80 | (rune >> 6 & 63));
		bytes[2] = (uint8_t)(0x80 | (rune & 63));
		length = 3;
	} else {
		bytes[0] = (uint8_t)(0xf0 | (rune >> 18 & 7));
		bytes[1] = (uint8_t)(0x80 | (rune >> 12 & 63));
		bytes[2] = (uint8_t)(0x80 | (rune >> 6 & 63));
		bytes[3] = (uint8_t)(0x80 | (rune & 63));
		length = 4;
	}
	if (length > room)
		return 0;
	memcpy(text, bytes, length);
	return length;
}

/* Characters of `width` bytes as UTF-8, as many as `size` holds. */
static void text_convert(const uint8_t *from, size_t count, size_t width, char *text, size_t size)
{
	size_t length = 0, i;

	for (i = 0; i < count; i++) {
		uint32_t rune = 0;
		size_t added;

		memcpy(&rune, from + i * width, width);
		added = text_put(text + length, size - 1 - length, rune);
		if (!added)
			break;
		length += added;
	}
	text[length] = '\0';
}

/* Copy a str, cut to `size` - 1 bytes of UTF-8. */
static bool python_copy_text(const struct python_layout *layout, const struct target_memory *memory,
			     uint64_t text, char *to, size_t size)
{
	uint64_t length = target_word(memory, text + PYTHON_LENGTH);
	uint32_t state = target_half(memory, text + PYTHON_STATE);
	uint32_t start = state & PYTHON_STATE_ASCII ? layout->walk.text : layout->walk.wide_text;
	size_t width = STATE_KIND(state);
	uint8_t *characters;
	bool good;

	if (!text || !STATE_COMPACT(state) || (width != 1 && width != 2 && width != 4))
		return false;
	if (length > size)
		length = size;
	if (length > CHARACTERS_MAX)
		length = CHARACTERS_MAX;
	characters = memory_alloc(length + 1, width);
	good = target_read(memory, text + start, characters, length * width);
	if (good)
		text_convert(characters, length, width, to, size);
	free(characters);
	return good;
}

/* Where the last entry of a table that was cut begins, which may not be all there. */
static size_t python_whole_entries(enum python_lines kind, const uint8_t *bytes, size_t size)
{
	if (kind == PYTHON_LINES_RANGES)
		return size & ~(size_t)1;
	while (size && !(bytes[--size] & 128))
		;
	return size;
}

/* Look into the first `size` bytes of a table of lines; `cut`: there are more. */
static bool python_find_line(const struct python_layout *layout, const struct target_memory *memory,
			     uint64_t table, size_t size, bool cut, uint32_t first_line, int64_t at,
			     uint32_t *ret_line)
{
	uint8_t *bytes = memory_alloc(size + 1, 1);
	bool found = target_read(memory, table + PYTHON_BYTES, bytes, size);

	if (found && cut)
		size = python_whole_entries(layout->lines, bytes, size);
	found = found && python_lines_find(layout->lines, bytes, size, first_line, at, ret_line);
	free(bytes);
	return found;
}

static uint32_t python_line(const struct python_layout *layout, const struct target_memory *memory,
			    uint64_t code, int64_t at)
{
	uint32_t first_line = target_half(memory, code + layout->walk.first_line), line;
	uint64_t table = target_word(memory, code + layout->walk.lines);
	uint64_t size = target_word(memory, table + PYTHON_LENGTH);
	size_t some;

	if (!table || size > LINES_MAX)
		return 0;
	/* The end of a table of pairs means something, so it must be all there. */
	if (layout->lines != PYTHON_LINES_PAIRS)
		for (some = LINES_FIRST; some < size && some <= LINES_COPIED;
		     some += INTERP_PART_BYTES)
			if (python_find_line(layout, memory, table, some, true, first_line, at,
					     &line))
				return line;
	if (python_find_line(layout, memory, table, size, false, first_line, at, &line))
		return line;
	return 0;
}

bool python_name_frame(const struct python_layout *layout, const struct target_memory *memory,
		       uint64_t code, int64_t at, struct interp_name *ret_name)
{
	const struct interp_python *walk = &layout->walk;
	uint64_t head[2]; /* reference count, type */

	if (!code || code & 7 || !target_read(memory, code, head, sizeof(head)) ||
	    head[1] != layout->code_type || !head[0] || head[0] >= REFERENCES_MAX)
		return false;
	if (!python_copy_text(layout, memory, target_word(memory, code + walk->filename),
			      ret_name->file, sizeof(ret_name->file)) ||
	    !python_copy_text(layout, memory, target_word(memory, code + walk->name),
			      ret_name->function, sizeof(ret_name->function)))
		return false;
	ret_name->line = python_line(layout, memory, code, at);
	ret_name->covers_next = false;
	return true;
}

uint64_t python_name_key(const struct python_layout *layout, const struct target_memory *memory,
			 uint64_t code)
{
	const struct interp_python *walk = &layout->walk;
	uint64_t words[INTERP_CODE_FIELDS / 8];

	if (!target_read(memory, code, words, sizeof(words)))
		return 0;
	return hash_word(hash_word(hash_word(hash_word(code, words[walk->filename / 8]),
					     words[walk->name / 8]),
				   words[walk->lines / 8]),
			 words[walk->first_line / 8]);
}

bool python_name_copy(const struct python_layout *layout, const struct target_memory *memory,
		      const struct interp_code *code, int64_t at, struct interp_name *ret_name)
{
	uint64_t address = code->parts[INTERP_PART_CODE].address;
	struct interp_copy copy = { .code = code, .below = memory };
	struct target_memory both = interp_copy_memory(&copy);
	bool good = python_name_frame(layout, &both, address, at, ret_name);

	copy.below = NULL;
	if (!copy.asked ||
	    python_name_key(layout, memory, address) == python_name_key(layout, &both, address))
		return good;
	return python_name_frame(layout, &both, address, at, ret_name);
}
