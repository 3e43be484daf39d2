/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The folded format of flame graph tools: "comm;outermost;...;caller;allocator-function VALUE", VALUE in
 * bytes in use. The tools split a line at its last blank and the rest at semicolons, so blanks in names
 * stay, semicolons become colons, and whatever is no printable text becomes a question mark.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "model/source.h"
#include "render/formats.h"

struct folded_line {
	char *stack;
	uint64_t bytes;
};

static void folded_append_name(struct buffer *out, const char *name)
{
	unsigned int rune;
	size_t length;

	for (; *name; name += length) {
		length = text_decode_utf8(name, &rune);
		if (!length || text_rune_is_unsafe(rune))
			buffer_append_string(out, "?");
		else if (rune == ';')
			buffer_append_string(out, ":");
		else
			buffer_append(out, name, length);
		length += !length;
	}
}

/*
 * Names of interpreted code are often those of many places: all routes of a Sinatra application are one block. Native functions
 * stay one frame, whatever line of theirs made the call.
 */
static void folded_append_place(struct buffer *out, const struct report_frame *frame)
{
	if (!frame_is_interpreted(frame->kind) || !frame->file)
		return;
	buffer_append_string(out, " (");
	folded_append_name(out, frame->file);
	if (frame->line && !frame->whole)
		buffer_printf(out, ":%" PRIu32, frame->line);
	buffer_append_string(out, ")");
}

static void folded_append_frame(struct buffer *out, const struct report_frame *frame)
{
	const char *base;

	if (frame->kind == FRAME_ERROR) {
		buffer_append_string(out, "[");
		folded_append_name(out, frame->function ? frame->function : "stack cut short");
		buffer_append_string(out, "]");
	} else if (frame->function && *frame->function) {
		folded_append_name(out, frame->function);
		folded_append_place(out, frame);
	} else if (frame->module) {
		base = strrchr(frame->module, '/');
		folded_append_name(out, base ? base + 1 : frame->module);
		if (!frame->whole)
			buffer_printf(out, "+0x%" PRIx64, frame->offset);
	} else {
		buffer_append_string(out, "[unknown]");
	}
}

static char *folded_stack(const struct report_site *site)
{
	struct buffer stack = { 0 };
	size_t i;

	folded_append_name(&stack, *site->target->comm ? site->target->comm : "[unknown]");
	for (i = site->frame_count; i > 0; i--) {
		buffer_append_string(&stack, ";");
		folded_append_frame(&stack, &site->frames[i - 1]);
	}
	buffer_append_string(&stack, ";");
	if (site->function)
		folded_append_name(&stack, site->function);
	else
		buffer_printf(&stack, "[%s]", source_name(site->source));
	return stack.data;
}

static int folded_line_compare(const void *a, const void *b)
{
	return strcmp(((const struct folded_line *)a)->stack,
		      ((const struct folded_line *)b)->stack);
}

/* Print sorted lines, equal stacks as one. */
static void folded_print(const struct folded_line *lines, size_t count, struct buffer *out)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		bytes += lines[i].bytes;
		if (i + 1 < count && !strcmp(lines[i].stack, lines[i + 1].stack))
			continue;
		buffer_append_string(out, lines[i].stack);
		buffer_printf(out, " %" PRIu64 "\n", bytes);
		bytes = 0;
	}
}

void render_folded(const struct report *report, const struct render_options *options,
		   struct buffer *out)
{
	struct folded_line *lines = memory_alloc(report->site_count, sizeof(*lines));
	size_t i, count = 0;

	(void)options;
	for (i = 0; i < report->site_count; i++) {
		const struct report_site *site = &report->sites[i];
		uint64_t bytes = site_stats_inuse_bytes(&site->stats);

		if (bytes)
			lines[count++] = (struct folded_line){ folded_stack(site), bytes };
	}
	qsort(lines, count, sizeof(*lines), folded_line_compare);
	folded_print(lines, count, out);
	for (i = 0; i < count; i++)
		free(lines[i].stack);
	free(lines);
}
