/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What frames and sites are called in files of other tools: on one line, valid UTF-8, without a character that is not seen. */
#ifndef RENDER_FRAME_TEXT_H
#define RENDER_FRAME_TEXT_H

#include "analyze/report.h"
#include "base/buffer.h"

/* The last part of a path. */
const char *frame_text_base(const char *path);

/* Has it a name of its own? */
bool frame_text_is_named(const struct report_frame *frame);

/* "main", "libc.so.6+0x2724a", "[stack cut short]", "[unknown]" */
void frame_text_append(struct buffer *out, const struct report_frame *frame);

/*
 * What stands inside of the innermost frame of a site: "[Ruby heap pages]" where no line is to blame; without any frame, the allocator
 * function. False, with nothing appended, for other sites: their innermost frame is what called the allocator.
 */
bool frame_text_append_leaf(struct buffer *out, const struct report_site *site);

/* So many of `frames` were captured as one: functions that are inlined into each other, and the last one. */
size_t frame_text_span(const struct report_frame *frames, size_t count);

#endif
