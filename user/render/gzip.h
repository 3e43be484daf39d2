/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes to a gzip member, piece by piece. It has no name and no time: equal bytes become equal ones. */
#ifndef RENDER_GZIP_H
#define RENDER_GZIP_H

#include <zlib.h>

#include "base/buffer.h"

/* It is a member of what it fills: it must not move between gzip_begin and gzip_end. */
struct gzip {
	z_stream stream;
	struct buffer *out; /* not owned; may be emptied at any time */
};

void gzip_begin(struct gzip *gzip, struct buffer *out);
void gzip_append(struct gzip *gzip, const void *bytes, size_t size);
/* Append what is left, and free what it took. */
void gzip_end(struct gzip *gzip);

#endif
