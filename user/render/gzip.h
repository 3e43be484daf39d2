/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compresses bytes to a gzip member, piece by piece. Without name and time, so equal input gives
 * equal output.
 */
#ifndef RENDER_GZIP_H
#define RENDER_GZIP_H

#include <zlib.h>

#include "base/buffer.h"

/* Must not be moved between gzip_begin and gzip_end. */
struct gzip {
	z_stream stream;
	struct buffer *out; /* not owned; may be emptied at any time */
};

void gzip_begin(struct gzip *gzip, struct buffer *out);
void gzip_append(struct gzip *gzip, const void *bytes, size_t size);
/* Append the rest, and free the state. */
void gzip_end(struct gzip *gzip);

#endif
