/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See gzip.h. */
#include "render/gzip.h"

#include <stdlib.h>

#include "base/memory.h"

#define PIECE 16384
/* The largest window, and a gzip header instead of zlib's own. */
#define WINDOW_BITS (15 + 16)
#define MEMORY_LEVEL 8
/* So much is passed to zlib at once, whose sizes have 32 bits. */
#define INPUT_MAX (1u << 30)

static void *gzip_alloc(void *context, unsigned int count, unsigned int size)
{
	(void)context;
	return memory_alloc(count, size);
}

static void gzip_free(void *context, void *memory)
{
	(void)context;
	free(memory);
}

void gzip_begin(struct gzip *gzip, struct buffer *out)
{
	*gzip = (struct gzip){ .stream = { .zalloc = gzip_alloc, .zfree = gzip_free }, .out = out };
	/* Its arguments are right, and memory is there, so it cannot fail; nor can deflate below. */
	deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
		     Z_DEFAULT_STRATEGY);
}

static void gzip_run(struct gzip *gzip, int flush)
{
	unsigned char piece[PIECE];

	do {
		gzip->stream.next_out = piece;
		gzip->stream.avail_out = sizeof(piece);
		deflate(&gzip->stream, flush);
		buffer_append(gzip->out, piece, sizeof(piece) - gzip->stream.avail_out);
	} while (!gzip->stream.avail_out);
}

void gzip_append(struct gzip *gzip, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	size_t taken;

	for (; size; size -= taken, at += taken) {
		taken = size < INPUT_MAX ? size : INPUT_MAX;
		gzip->stream.next_in = (unsigned char *)at;
		gzip->stream.avail_in = (unsigned int)taken;
		gzip_run(gzip, Z_NO_FLUSH);
	}
}

void gzip_end(struct gzip *gzip)
{
	gzip_run(gzip, Z_FINISH);
	deflateEnd(&gzip->stream);
}
