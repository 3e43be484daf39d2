/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See leak_state.h. The file: a line, a header in the order of the machine, and a zlib stream. In it, each block is how far it is from the one before in
 * units of 8 bytes, its size, both as numbers of 7 bits a byte, and its verdict.
 */
#include "recording/leak_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/memory.h"
#include "base/text.h"

#define STATE_LINE "tracer leaks, blocks, 1\n"
#define STATE_BLOCK_MIN 3 /* bytes of a block */
#define STATE_BLOCK_MAX 21
#define STATE_NUMBER_MAX 10
#define STATE_RATIO 1040 /* zlib makes nothing smaller than that */

struct state_header {
	struct leak_state_owner owner;
	uint64_t count, bytes; /* of blocks, before they are compressed */
	uint64_t check; /* crc32 of these bytes, and of the header with 0 for this */
};

static void state_add_number(struct buffer *out, uint64_t number)
{
	unsigned char bytes[STATE_NUMBER_MAX];
	size_t count = 0;

	for (; number > 0x7f; number >>= 7)
		bytes[count++] = (unsigned char)(number | 0x80);
	bytes[count++] = (unsigned char)number;
	buffer_append(out, bytes, count);
}

void leak_state_add(struct leak_state *state, uint64_t address, uint64_t size,
		    enum leak_verdict verdict)
{
	const unsigned char byte = (unsigned char)verdict;

	state_add_number(&state->blocks, (address - state->last) / 8);
	state_add_number(&state->blocks, size);
	buffer_append(&state->blocks, &byte, 1);
	state->last = address;
	state->count++;
}

static uint64_t state_check(struct state_header header, const struct buffer *blocks)
{
	uLong sum = crc32(0, NULL, 0);

	header.check = 0;
	sum = crc32_z(sum, (const Bytef *)&header, sizeof(header));
	/* Of no bytes at all zlib would begin again. */
	return blocks->length ? crc32_z(sum, (const Bytef *)blocks->data, blocks->length) : sum;
}

void leak_state_write(const struct leak_state *state, struct buffer *out)
{
	struct state_header header = { .owner = state->owner,
				       .count = state->count,
				       .bytes = state->blocks.length };
	uLongf length = compressBound(state->blocks.length);
	unsigned char *bytes = memory_alloc(1, length);

	header.check = state_check(header, &state->blocks);
	/* Its arguments are right, and there is room: it cannot fail. */
	compress2(bytes, &length, (const Bytef *)(state->blocks.data ? state->blocks.data : ""),
		  state->blocks.length, Z_BEST_SPEED);
	buffer_append_string(out, STATE_LINE);
	buffer_append(out, &header, sizeof(header));
	buffer_append(out, bytes, length);
	free(bytes);
}

static bool state_get_number(const struct buffer *blocks, size_t *at, uint64_t *ret_number)
{
	unsigned int shift = 0;
	unsigned char byte;

	for (*ret_number = 0; *at < blocks->length && shift < 64; shift += 7) {
		byte = (unsigned char)blocks->data[(*at)++];
		*ret_number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* The next block. False: there is none, or it is not as it should be. */
static bool state_next(const struct leak_state *state, struct leak_state_cursor *cursor)
{
	const struct buffer *blocks = &state->blocks;
	uint64_t distance, size;

	cursor->has_block = false;
	if (!state_get_number(blocks, &cursor->at, &distance) ||
	    !state_get_number(blocks, &cursor->at, &size) || cursor->at >= blocks->length ||
	    !distance || distance > (INT64_MAX - cursor->address) / 8 ||
	    (unsigned char)blocks->data[cursor->at] >= LEAK_VERDICTS)
		return false;
	cursor->address += distance * 8;
	cursor->size = size;
	cursor->verdict = (enum leak_verdict)(unsigned char)blocks->data[cursor->at++];
	cursor->has_block = true;
	return true;
}

/* Are all blocks as they should be, and as many as the header has? */
static bool state_is_sound(const struct leak_state *state)
{
	struct leak_state_cursor cursor = { 0 };
	uint64_t count = 0;

	while (state_next(state, &cursor))
		count++;
	return count == state->count && cursor.at == state->blocks.length;
}

/* NULL, or what is wrong. */
static const char *state_load(const struct buffer *file, struct leak_state *state)
{
	const size_t begin = strlen(STATE_LINE) + sizeof(struct state_header);
	struct state_header header;
	uLongf length;

	if (file->length < begin || memcmp(file->data, STATE_LINE, strlen(STATE_LINE)) != 0)
		return "is no file that --save has written";
	memcpy(&header, file->data + strlen(STATE_LINE), sizeof(header));
	if (header.count > UINT32_MAX || header.bytes < header.count * STATE_BLOCK_MIN ||
	    header.bytes > header.count * STATE_BLOCK_MAX ||
	    header.bytes / STATE_RATIO > file->length - begin)
		return "has a header that cannot be right";
	length = header.bytes;
	state->blocks.data = memory_alloc(1, length + 1);
	state->blocks.capacity = length + 1;
	if (uncompress((Bytef *)state->blocks.data, &length, (const Bytef *)file->data + begin,
		       file->length - begin) != Z_OK ||
	    length != header.bytes)
		return "is cut, or was changed: its blocks cannot be unpacked";
	state->blocks.length = length;
	state->owner = header.owner;
	state->count = header.count;
	if (state_check(header, &state->blocks) != header.check || !state_is_sound(state))
		return "was changed: its checksum is another one, or its blocks make no sense";
	return NULL;
}

int leak_state_read(const struct buffer *file, const char *name, struct leak_state *ret_state,
		    struct error *error)
{
	const char *reason = state_load(file, ret_state);
	struct buffer safe = { 0 };

	if (!reason)
		return 0;
	text_append_safe(&safe, name);
	error_set(error, ERROR_USAGE, -EINVAL, "'%s' %s", safe.data ? safe.data : "", reason);
	buffer_free(&safe);
	return -EINVAL;
}

void leak_state_free(struct leak_state *state)
{
	buffer_free(&state->blocks);
	*state = (struct leak_state){ 0 };
}

enum leak_before leak_state_find(const struct leak_state *state, struct leak_state_cursor *cursor,
				 uint64_t address, uint64_t size)
{
	while (cursor->at < state->blocks.length && cursor->address < address)
		if (!state_next(state, cursor))
			break;
	if (!cursor->has_block || cursor->address != address || cursor->size != size)
		return LEAK_BEFORE_NEW;
	switch (cursor->verdict) {
	case LEAK_DEFINITE:
	case LEAK_INDIRECT:
		return LEAK_BEFORE_LOST;
	case LEAK_REACHABLE:
		return LEAK_BEFORE_REACHABLE;
	default:
		return LEAK_BEFORE_UNSURE;
	}
}
