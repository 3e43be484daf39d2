/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is in a gzip file, by zlib. */
#ifndef TESTS_UNIT_GUNZIP_H
#define TESTS_UNIT_GUNZIP_H

#include <zlib.h>

#include "base/buffer.h"

/* Append the content of one whole member; there must be nothing behind it. */
static void gunzip(const struct buffer *from, struct buffer *to)
{
	z_stream stream = { .next_in = (unsigned char *)from->data,
			    .avail_in = (unsigned int)from->length };
	unsigned char piece[4096];
	int result = Z_OK;

	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	while (result == Z_OK) {
		stream.next_out = piece;
		stream.avail_out = sizeof(piece);
		result = inflate(&stream, Z_NO_FLUSH);
		buffer_append(to, piece, sizeof(piece) - stream.avail_out);
	}
	assert_int_equal(result, Z_STREAM_END);
	assert_int_equal(stream.avail_in, 0);
	inflateEnd(&stream);
}

#endif
