/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See frame_text.h. */
#include "render/frame_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "model/source.h"

const char *frame_text_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

bool frame_text_is_named(const struct report_frame *frame)
{
	return frame->function && *frame->function;
}

static void frame_text_append_bracketed(struct buffer *out, const char *text)
{
	buffer_append_string(out, "[");
	text_append_safe(out, text);
	buffer_append_string(out, "]");
}

void frame_text_append(struct buffer *out, const struct report_frame *frame)
{
	if (frame->kind == FRAME_ERROR) {
		frame_text_append_bracketed(out, frame_text_is_named(frame) ? frame->function
									    : "stack cut short");
	} else if (frame_text_is_named(frame)) {
		text_append_safe(out, frame->function);
	} else if (frame->module) {
		text_append_safe(out, frame_text_base(frame->module));
		if (!frame->whole)
			buffer_printf(out, "+0x%" PRIx64, frame->offset);
	} else {
		buffer_append_string(out, "[unknown]");
	}
}

bool frame_text_append_leaf(struct buffer *out, const struct report_site *site)
{
	if (!region_has_line(site->region))
		frame_text_append_bracketed(out, region_title(site->region));
	else if (site->frame_count)
		return false;
	else if (site->function && *site->function)
		text_append_safe(out, site->function);
	else
		frame_text_append_bracketed(out, source_name(site->source));
	return true;
}

static bool frame_text_is_same_place(const struct report_frame *a, const struct report_frame *b)
{
	return a->kind == b->kind && a->module == b->module && a->offset == b->offset;
}

size_t frame_text_span(const struct report_frame *frames, size_t count)
{
	size_t span = 1;

	while (span < count && frames[span - 1].inlined &&
	       frame_text_is_same_place(&frames[span - 1], &frames[span]))
		span++;
	return span;
}
