/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text that must fit a number of terminal columns. All functions take untrusted text and append it made
 * safe; widths count columns, not bytes, and COLUMNS_ANY sets no limit.
 */
#ifndef RENDER_COLUMNS_H
#define RENDER_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

#define COLUMNS_ANY SIZE_MAX

/* Append the start of `text`, with "..." behind it if it was cut. Returns the columns it takes. */
size_t columns_append_start(struct buffer *out, const char *text, size_t width);
/* Append the end of `text`, with "..." before it if it was cut. Returns the columns it takes. */
size_t columns_append_end(struct buffer *out, const char *text, size_t width);
/* Append blanks from column `used` to column `width`. */
void columns_pad(struct buffer *out, size_t used, size_t width);
/* Append `text` as lines, broken at blanks; all but the first are indented. Ends with a newline. */
void columns_wrap(struct buffer *out, const char *text, size_t width, size_t indent);
/* Columns that `text` takes once it is safe. */
size_t columns_of(const char *text);

#endif
