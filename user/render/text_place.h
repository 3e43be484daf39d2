/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a frame is, and what a row is of, in few columns. Widths are in columns; what is appended is safe. */
#ifndef RENDER_TEXT_PLACE_H
#define RENDER_TEXT_PLACE_H

#include "render/columns.h"
#include "render/render.h"

/* What a reader should know about a frame beside its name: " [inlined]", " [jit]", ... */
const char *text_place_mark(const struct report_frame *frame);

bool text_place_has_name(const struct report_frame *frame);

/* The function, or the module and offset, with the mark. Returns the columns it takes. */
size_t text_place_append_name(struct buffer *out, const struct report_frame *frame, size_t width);

/*
 * "file:line"; the module of a function whose file is not known; or nothing. Paths are shortened to their end, unless
 * `paths` asks for them: then modules are left to the caller.
 */
void text_place_append(struct buffer *out, const struct report_frame *frame, bool paths,
		       size_t width);

/* The frame that an open row is of; NULL = none. */
const struct report_frame *text_place_frame(const struct report_site *site);

/*
 * What a row is of, in two parts: "file:line" and the function; without a file the function and its module, or the module
 * alone. Of no frame: the process, or why there is none.
 */
void text_place_append_row(struct buffer *out, const struct report_site *site, size_t width);
/* The columns of the first part if nothing of a path is shown but the file's name. */
size_t text_place_least(const struct report_site *site);
void text_place_append_more(struct buffer *out, const struct report_site *site, size_t width);

/* What allocated for a row: "parser.c:22, :18 and 3 more", or the allocator function. */
void text_place_append_via(struct buffer *out, const struct report_site *site, size_t width);

#endif
