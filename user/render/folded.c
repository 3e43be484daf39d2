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
#include "render/folded.h"
#include "render/formats.h"

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

/* Take the next piece of a line from `text`, which is emptied. */
static void folded_add_piece(struct folded_line *line, struct strings *strings, struct buffer *text)
{
	line->pieces[line->count++] = strings_keep(strings, text->data);
	buffer_clear(text);
}

/* Of what is estimated, as with --budget, "~malloc". */
static void folded_append_function(struct buffer *text, const struct report_site *site)
{
	if (site->estimate.known)
		buffer_append_string(text, "~");
	folded_append_name(text, site->function);
}

static void folded_make_line(struct folded_line *line, const struct report_site *site,
			     struct strings *strings, struct buffer *text)
{
	size_t i;

	line->pieces = memory_alloc(site->frame_count + 2, sizeof(*line->pieces));
	folded_append_name(text, *site->target->comm ? site->target->comm : "[unknown]");
	buffer_append_string(text, ";");
	folded_add_piece(line, strings, text);
	for (i = site->frame_count; i > 0; i--) {
		folded_append_frame(text, &site->frames[i - 1]);
		buffer_append_string(text, ";");
		folded_add_piece(line, strings, text);
	}
	if (!region_has_line(site->region))
		buffer_printf(text, "[%s]", region_title(site->region));
	else if (site->function)
		folded_append_function(text, site);
	else
		buffer_printf(text, "[%s]", source_name(site->source));
	buffer_append_string(text, " ");
	folded_add_piece(line, strings, text);
}

/*
 * As if the pieces were one text. No piece but the last has a semicolon anywhere but at its end, and no character of a name is
 * less than a blank.
 */
static int folded_compare(const void *a, const void *b)
{
	const struct folded_line *left = a, *right = b;
	size_t i;

	for (i = 0; i < left->count && i < right->count; i++)
		if (left->pieces[i] != right->pieces[i])
			return strcmp(left->pieces[i], right->pieces[i]);
	return 0;
}

static void folded_print_line(const struct folded_line *line, uint64_t bytes, struct buffer *out)
{
	size_t i;

	for (i = 0; i < line->count; i++)
		buffer_append_string(out, line->pieces[i]);
	buffer_printf(out, "%" PRIu64 "\n", bytes);
}

/* Print sorted lines, equal stacks as one. */
static void folded_print(const struct folded_line *lines, size_t count,
			 const struct render_options *options, struct buffer *out)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < count && render_drain(options, out); i++) {
		bytes += lines[i].bytes;
		if (i + 1 < count && !folded_compare(&lines[i], &lines[i + 1]))
			continue;
		folded_print_line(&lines[i], bytes, out);
		bytes = 0;
	}
}

void folded_add_site(struct folded *folded, const struct report_site *site, uint64_t bytes)
{
	struct folded_line *line;

	folded->lines = memory_grow(folded->lines, folded->count, &folded->capacity,
				    sizeof(*folded->lines));
	line = &folded->lines[folded->count++];
	*line = (struct folded_line){ .bytes = bytes, .sampled = site->sampled };
	folded_make_line(line, site, &folded->strings, &folded->text);
}

void folded_add_report(struct folded *folded, const struct report *report)
{
	struct report_site site;
	uint64_t bytes;
	size_t i;

	for (i = 0; i < report->site_count; i++) {
		bytes = site_stats_inuse_bytes(&report->sites[i].stats);
		if (!bytes)
			continue;
		site = report_open_site(report, i);
		folded_add_site(folded, &site, bytes);
		report_close_site(&site);
	}
}

void folded_sort(struct folded *folded)
{
	if (folded->count)
		qsort(folded->lines, folded->count, sizeof(*folded->lines), folded_compare);
}

void folded_free(struct folded *folded)
{
	size_t i;

	for (i = 0; i < folded->count; i++)
		free(folded->lines[i].pieces);
	free(folded->lines);
	strings_free(&folded->strings);
	buffer_free(&folded->text);
	*folded = (struct folded){ 0 };
}

void folded_write(struct folded *folded, const struct render_options *options, struct buffer *out)
{
	folded_sort(folded);
	folded_print(folded->lines, folded->count, options, out);
	folded_free(folded);
}

void render_folded(const struct report *report, const struct render_options *options,
		   struct buffer *out)
{
	struct folded folded = { 0 };

	folded_add_report(&folded, report);
	folded_write(&folded, options, out);
}
