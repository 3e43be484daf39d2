/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See python_text.h. */
#include "python/python_text.h"

#include <string.h>

#define ENTRIES_MAX 1024u /* that a search looks at */
#define TEXT_START 128u /* bytes of a str that are read at once */
#define KEYS_MAX (1ull << 40) /* more entries than memory holds */

/* Of a str's state: whether it is interned in the lowest two bits, bytes of a character, flags. */
#define STATE_KIND 2
#define STATE_COMPACT (1u << 5)
#define STATE_ASCII (1u << 6)
#define STATE_LOW_FLAGS 0xfffcu
#define STATE_MOVED 14

static size_t text_put(char *text, size_t room, uint32_t rune)
{
	size_t length = rune < 0x80 ? 1 : rune < 0x800 ? 2 : rune < 0x10000 ? 3 : 4, i;

	if (length > room || rune > 0x10ffff)
		return 0;
	if (length == 1) {
		text[0] = (char)rune;
		return 1;
	}
	for (i = length - 1; i > 0; i--, rune >>= 6)
		text[i] = (char)(0x80 | (rune & 63));
	text[0] = (char)((0xf00u >> length & 0xff) | rune);
	return length;
}

static void text_convert(const unsigned char *from, size_t count, size_t width, char *text,
			 size_t size)
{
	size_t length = 0, added, i;

	for (i = 0; i < count; i++) {
		uint32_t rune = 0;

		memcpy(&rune, from + i * width, width);
		added = text_put(text + length, size - 1 - length, rune);
		if (!added)
			break;
		length += added;
	}
	text[length] = '\0';
}

/* Width of the characters, and a flag whether all are ASCII; 0 = it is no str, or one that has its characters elsewhere. */
static uint32_t text_read_state(const struct python_release *offsets, uint32_t state,
				bool *ret_is_ascii)
{
	uint32_t width;

	/* Whoever has no flag below has them all further up; what is above may be anything. */
	if (offsets->moved_state && !(state & STATE_LOW_FLAGS))
		state >>= STATE_MOVED;
	width = state >> STATE_KIND & 7;
	*ret_is_ascii = state & STATE_ASCII;
	return state & STATE_COMPACT && (width == 1 || width == 2 || width == 4) ? width : 0;
}

bool python_text_read(struct image *image, const struct python_release *offsets, uint64_t address,
		      char *ret_text, size_t size)
{
	unsigned char bytes[TEXT_START], rest[PYTHON_TEXT_MAX * 4];
	uint64_t length, start;
	uint32_t state, width;
	bool is_ascii;
	size_t read;

	ret_text[0] = '\0';
	if (!address || address & 7)
		return false;
	/* Most are short: one read has all of it. */
	read = image_read_part(image, address, bytes, sizeof(bytes));
	if (read < PYTHON_STR_STATE + sizeof(state))
		return false;
	memcpy(&length, bytes + PYTHON_STR_LENGTH, sizeof(length));
	memcpy(&state, bytes + PYTHON_STR_STATE, sizeof(state));
	width = text_read_state(offsets, state, &is_ascii);
	if (!width)
		return false;
	start = is_ascii ? offsets->text : offsets->wide_text;
	if (length > PYTHON_TEXT_MAX)
		length = PYTHON_TEXT_MAX;
	if (start + length * width <= read) {
		text_convert(bytes + start, length, width, ret_text, size);
		return true;
	}
	if (!image_read(image, address + start, rest, length * width))
		return false;
	text_convert(rest, length, width, ret_text, size);
	return true;
}

/* The keys of 3.9 and 3.10: size, and entries of hash, key, value. */
static bool keys_read_large(struct image *image, uint64_t address, struct python_keys *keys)
{
	uint64_t words[5], index;

	if (!image_read(image, address, words, sizeof(words)) || words[1] & (words[1] - 1) ||
	    words[1] > KEYS_MAX || words[4] > words[1])
		return false;
	index = words[1] <= 0xff ? 1 : words[1] <= 0xffff ? 2 : words[1] <= 0xffffffff ? 4 : 8;
	*keys = (struct python_keys){ .entries = address + 40 + words[1] * index,
				      .count = words[4],
				      .entry_size = 24,
				      .key = 8,
				      .value = 16 };
	keys->bytes = 40 + words[1] * index + (words[3] + words[4]) * 24;
	return words[3] <= words[1];
}

/* Those since 3.11: all keys are str in the kinds 1 and 2, which have no hash; 2 is that of attributes. */
static bool keys_read_small(struct image *image, uint64_t address, struct python_keys *keys)
{
	unsigned char bytes[32];
	uint64_t usable, count;

	if (!image_read(image, address, bytes, sizeof(bytes)) || bytes[8] > 40 || bytes[9] > 43 ||
	    bytes[9] < bytes[8] || bytes[10] > 2)
		return false;
	memcpy(&usable, bytes + 16, sizeof(usable));
	memcpy(&count, bytes + 24, sizeof(count));
	if (usable > 1ull << bytes[8] || count > 1ull << bytes[8])
		return false;
	*keys = (struct python_keys){ .entries = address + 32 + (1ull << bytes[9]),
				      .count = count,
				      .entry_size = bytes[10] ? 16 : 24,
				      .key = bytes[10] ? 0 : 8,
				      .value = bytes[10] ? 8 : 16 };
	keys->bytes = 32 + (1ull << bytes[9]) + (usable + count) * keys->entry_size;
	return true;
}

bool python_keys_read(struct image *image, const struct python_release *offsets, uint64_t address,
		      struct python_keys *ret_keys)
{
	*ret_keys = (struct python_keys){ 0 };
	if (!address || address & 7)
		return false;
	return offsets->small_keys ? keys_read_small(image, address, ret_keys)
				   : keys_read_large(image, address, ret_keys);
}

bool python_dict_find(struct image *image, const struct python_release *offsets, uint64_t dict,
		      const char *key, struct python_entry *entry)
{
	const uint64_t known = entry->key;
	struct python_keys keys;
	uint64_t i, words[3];
	char text[64];

	*entry = (struct python_entry){ 0 };
	if (!dict || dict & 7 ||
	    !python_keys_read(image, offsets, image_word(image, dict + PYTHON_DICT_KEYS), &keys))
		return false;
	for (i = 0; i < keys.count && i < ENTRIES_MAX; i++) {
		if (!image_read(image, keys.entries + i * keys.entry_size, words, keys.entry_size))
			continue;
		entry->key = words[keys.key / 8];
		entry->value = words[keys.value / 8];
		if ((known && entry->key == known) ||
		    (python_text_read(image, offsets, entry->key, text, sizeof(text)) &&
		     !strcmp(text, key)))
			return true;
	}
	*entry = (struct python_entry){ 0 };
	return false;
}
