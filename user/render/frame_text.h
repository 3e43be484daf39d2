/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts of frames and sites in files of other tools: on one line, valid UTF-8, without invisible
 * characters.
 */
#ifndef RENDER_FRAME_TEXT_H
#define RENDER_FRAME_TEXT_H

#include "analyze/report.h"
#include "base/buffer.h"

/* The last part of a path. */
const char *frame_text_base(const char *path);

/* Does it have a name? */
bool frame_text_is_named(const struct report_frame *frame);

/* "main", "libc.so.6+0x2724a", "[stack cut short]", "[unknown]" */
void frame_text_append(struct buffer *out, const struct report_frame *frame);

/*
 * Append a pseudo-frame inside the innermost frame of a site: "[Ruby heap pages]" if no line is
 * responsible; the allocator function if there is no frame. False, with nothing appended, for other
 * sites: their innermost frame is the caller of the allocator.
 */
bool frame_text_append_leaf(struct buffer *out, const struct report_site *site);

/*
 * Number of leading `frames` that were captured as one: functions inlined into each other, and the
 * last one.
 */
size_t frame_text_span(const struct report_frame *frames, size_t count);

#endif
