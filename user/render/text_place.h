/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts for the place of a frame and the subject of a row, in few columns. Widths are in columns;
 * appended text is safe.
 */
#ifndef RENDER_TEXT_PLACE_H
#define RENDER_TEXT_PLACE_H

#include "render/columns.h"
#include "render/render.h"

/* A remark on a frame beside its name: " [inlined]", " [jit]", ... */
const char *text_place_mark(const struct report_frame *frame);

bool text_place_has_name(const struct report_frame *frame);

/* The function, or the module and offset, with the mark. Returns the columns it takes. */
size_t text_place_append_name(struct buffer *out, const struct report_frame *frame, size_t width);

/*
 * "file:line"; the module of a function without a file; or nothing. Paths are shortened to their
 * end, unless `paths`; then modules are left to the caller.
 */
void text_place_append(struct buffer *out, const struct report_frame *frame, bool paths,
		       size_t width);

/* The frame of an open row; NULL = none. */
const struct report_frame *text_place_frame(const struct report_site *site);

/*
 * The subject of a row, in two parts: "file:line" and the function; without a file the function and
 * its module, or the module alone. Without a frame: the process, or why there is none.
 */
void text_place_append_row(struct buffer *out, const struct report_site *site, size_t width);
/* Columns of the first part with only the file's name. */
size_t text_place_least(const struct report_site *site);
void text_place_append_more(struct buffer *out, const struct report_site *site, size_t width);

/* The leaves of a row: "parser.c:22, :18 and 3 more", or the allocator function. */
void text_place_append_via(struct buffer *out, const struct report_site *site, size_t width);

#endif
