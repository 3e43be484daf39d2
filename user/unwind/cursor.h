/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading DWARF's numbers from untrusted bytes. A cursor never leaves its bytes: a read beyond the end
 * gives 0, and from then on the cursor is bad and every read gives 0.
 */
#ifndef UNWIND_CURSOR_H
#define UNWIND_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	uint64_t address; /* of *at, as the ELF file sees it */
	bool bad;
};

static inline size_t cursor_left(const struct cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

static inline void cursor_fail(struct cursor *cursor)
{
	cursor->at = cursor->end;
	cursor->bad = true;
}

static inline void cursor_skip(struct cursor *cursor, uint64_t bytes)
{
	if (bytes > cursor_left(cursor)) {
		cursor_fail(cursor);
		return;
	}
	cursor->at += bytes;
	cursor->address += bytes;
}

/* The next `bytes` bytes as a cursor of their own, which this one steps over. */
static inline struct cursor cursor_take(struct cursor *cursor, uint64_t bytes)
{
	struct cursor part = *cursor;

	cursor_skip(cursor, bytes);
	part.end = cursor->at;
	if (cursor->bad)
		cursor_fail(&part);
	return part;
}

/* An unsigned little-endian number of 1, 2, 4 or 8 bytes. */
static inline uint64_t cursor_fixed(struct cursor *cursor, unsigned int bytes)
{
	const uint8_t *from = cursor->at;
	uint64_t value = 0;

	cursor_skip(cursor, bytes);
	if (!cursor->bad)
		memcpy(&value, from, bytes);
	return value;
}

static inline uint8_t cursor_u8(struct cursor *cursor)
{
	return (uint8_t)cursor_fixed(cursor, 1);
}

static inline uint32_t cursor_u32(struct cursor *cursor)
{
	return (uint32_t)cursor_fixed(cursor, 4);
}

/* A number in LEB128. Bits beyond the 64th are dropped; those from the sign on are set in `*ret_sign`. */
static inline uint64_t cursor_leb(struct cursor *cursor, uint64_t *ret_sign)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = cursor_u8(cursor);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift = shift < 64 ? shift + 7 : shift;
	} while (byte & 0x80);
	*ret_sign = byte & 0x40 && shift < 64 ? ~0ULL << shift : 0;
	return value;
}

static inline uint64_t cursor_uleb(struct cursor *cursor)
{
	uint64_t sign;

	return cursor_leb(cursor, &sign);
}

static inline int64_t cursor_sleb(struct cursor *cursor)
{
	uint64_t sign, value = cursor_leb(cursor, &sign);

	return (int64_t)(value | sign);
}

/* A text that ends in a NUL inside the cursor's bytes; "" and a bad cursor if there is none. */
static inline const char *cursor_string(struct cursor *cursor)
{
	const char *text = (const char *)cursor->at;
	const uint8_t *nul = cursor->bad ? NULL : memchr(cursor->at, 0, cursor_left(cursor));

	if (!nul) {
		cursor_fail(cursor);
		return "";
	}
	cursor_skip(cursor, (uint64_t)(nul - cursor->at) + 1);
	return text;
}

#endif
