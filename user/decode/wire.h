/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Serializes values into a buffer. Both ends are the same program, so structs are copied as they
 * are; but neither trusts the other: a read beyond the end gives zeros and makes the reader bad.
 */
#ifndef DECODE_WIRE_H
#define DECODE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"

/* Longest text with its NUL. */
#define WIRE_TEXT_MAX 4096

struct wire {
	const unsigned char *at, *end;
	bool bad;
};

static inline struct wire wire_begin(const struct buffer *bytes)
{
	const unsigned char *at = (const unsigned char *)bytes->data;

	return (struct wire){ at, bytes->length ? at + bytes->length : at, false };
}

/* Copy the next `size` bytes. */
static inline void wire_get(struct wire *wire, void *to, size_t size)
{
	if (wire->bad || (size_t)(wire->end - wire->at) < size) {
		wire->bad = true;
		memset(to, 0, size);
		return;
	}
	if (size)
		memcpy(to, wire->at, size);
	wire->at += size;
}

static inline uint32_t wire_get_number(struct wire *wire)
{
	uint32_t number;

	wire_get(wire, &number, sizeof(number));
	return number;
}

/* How many items follow; more than `most` is bad. */
static inline uint32_t wire_get_count(struct wire *wire, uint32_t most)
{
	uint32_t count = wire_get_number(wire);

	if (count <= most)
		return count;
	wire->bad = true;
	return 0;
}

/* The text, which has no NUL but the one at its end. */
static inline void wire_get_text(struct wire *wire, char text[WIRE_TEXT_MAX])
{
	uint32_t length = wire_get_count(wire, WIRE_TEXT_MAX - 1);

	wire_get(wire, text, length);
	text[length] = '\0';
	wire->bad |= strlen(text) != length;
}

/* Was everything there, and nothing else? */
static inline bool wire_is_whole(const struct wire *wire)
{
	return !wire->bad && wire->at == wire->end;
}

static inline void wire_put(struct buffer *bytes, const void *from, size_t size)
{
	if (size)
		buffer_append(bytes, from, size);
}

static inline void wire_put_number(struct buffer *bytes, uint32_t number)
{
	wire_put(bytes, &number, sizeof(number));
}

/* A text that is too long is cut. */
static inline void wire_put_text(struct buffer *bytes, const char *text)
{
	uint32_t length = text ? (uint32_t)strnlen(text, WIRE_TEXT_MAX - 1) : 0;

	wire_put_number(bytes, length);
	wire_put(bytes, text, length);
}

#endif
