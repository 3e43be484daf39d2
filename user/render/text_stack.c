/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stack of a site in the text format: a line per frame, function to the left, place to the right. A
 * long function name may reach into the right column as far as the place leaves room.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "render/columns.h"
#include "render/text_style.h"

#define STACK_INDENT 7
#define STACK_COLUMNS (TEXT_COLUMNS - STACK_INDENT)
#define NAME_COLUMN_MAX 39
#define GAP 2

/* Of a stack with more frames than FRAMES_SHOWN, so many at both ends are shown. */
#define FRAMES_SHOWN 16
#define FRAMES_INNER 12
#define FRAMES_OUTER 3

/* The last `parts` components of a path, without "./". */
static const char *path_tail(const char *path, int parts)
{
	const char *at = path + strlen(path);

	while (at > path && (at[-1] != '/' || --parts > 0))
		at--;
	return strncmp(at, "./", 2) ? at : at + 2;
}

/* So many leaves are shown of a line, as far as they fit. */
#define LEAVES_SHOWN 3

static bool frame_has_name(const struct report_frame *frame)
{
	return frame->function && *frame->function;
}

/* What a reader should know about a frame beside its name: " [inlined]", " [jit]", ... */
static const char *frame_mark(const struct report_frame *frame)
{
	if (frame->inlined)
		return " [inlined]";
	if (frame->kind == FRAME_JIT)
		return " [jit]";
	if (frame->kind == FRAME_KERNEL)
		return " [kernel]";
	return "";
}

static size_t text_append_name(const struct text_writer *writer, const struct report_frame *frame,
			       size_t width)
{
	const char *mark = frame_mark(frame);
	char offset[32] = "";
	size_t used;

	if (width != COLUMNS_ANY)
		width -= strlen(mark);
	if (frame_has_name(frame)) {
		used = columns_append_start(writer->out, frame->function, width);
	} else if (!frame->module) {
		used = columns_append_start(writer->out, "[unknown]", width);
	} else {
		if (!frame->whole)
			snprintf(offset, sizeof(offset), "+0x%" PRIx64, frame->offset);
		if (width != COLUMNS_ANY)
			width -= strlen(offset);
		used = columns_append_end(writer->out, path_tail(frame->module, 1), width);
	}
	buffer_append_string(writer->out, offset);
	buffer_append_string(writer->out, mark);
	return used + strlen(offset) + strlen(mark);
}

/*
 * The end of a frame's path that is shown: two components, and of an interpreter's lines, which are known by more of them
 * ("app/models/user.rb"), three where there is room.
 */
static const char *frame_path(const struct report_frame *frame, size_t width)
{
	const char *three = path_tail(frame->file, 3);

	if (frame_is_interpreted(frame->kind) && columns_of(three) <= width)
		return three;
	return path_tail(frame->file, 2);
}

/* "file:line", or the module of a function whose file is not known. */
static void text_append_place(const struct text_writer *writer, const struct report_frame *frame,
			      size_t width, struct buffer *out)
{
	char line[16] = "";

	if (frame->file) {
		if (frame->line)
			snprintf(line, sizeof(line), ":%" PRIu32, frame->line);
		if (width != COLUMNS_ANY)
			width -= strlen(line);
		columns_append_end(out, writer->verbose ? frame->file : frame_path(frame, width),
				   width);
		buffer_append_string(out, line);
	} else if (frame->module && frame_has_name(frame) && !writer->verbose) {
		columns_append_end(out, path_tail(frame->module, 1), width);
	}
}

/* " in /path/module+0xoffset (build ID ...)", for -v. */
static void text_append_module(const struct text_writer *writer, const struct report_frame *frame)
{
	text_style_set(writer, STYLE_QUIET);
	buffer_append_string(writer->out, "  in ");
	columns_append_end(writer->out, frame->module, COLUMNS_ANY);
	if (!frame->whole)
		buffer_printf(writer->out, "+0x%" PRIx64, frame->offset);
	if (frame->build_id)
		buffer_printf(writer->out, " (build ID %s)", frame->build_id);
	text_style_set(writer, STYLE_PLAIN);
}

static void text_append_right(const struct text_writer *writer, const char *text, size_t used,
			      size_t name_column)
{
	columns_pad(writer->out, used, name_column);
	columns_pad(writer->out, 0, GAP);
	text_style_set(writer, STYLE_QUIET);
	buffer_append_string(writer->out, text);
	text_style_set(writer, STYLE_PLAIN);
}

static void text_frame(const struct text_writer *writer, const struct report_frame *frame,
		       size_t name_column)
{
	size_t width = writer->verbose ? COLUMNS_ANY : STACK_COLUMNS;
	struct buffer place = { 0 };
	size_t used;

	columns_pad(writer->out, 0, STACK_INDENT);
	text_append_place(writer, frame,
			  writer->verbose ? COLUMNS_ANY : STACK_COLUMNS - name_column - GAP,
			  &place);
	if (place.length && !writer->verbose)
		width -= columns_of(place.data) + GAP;
	used = text_append_name(writer, frame, width);
	if (place.length)
		text_append_right(writer, place.data, used, name_column);
	if (writer->verbose && frame->module)
		text_append_module(writer, frame);
	buffer_append_string(writer->out, "\n");
	buffer_free(&place);
}

/* A remark in the place of a frame. */
static void text_remark(const struct text_writer *writer, const char *text)
{
	columns_pad(writer->out, 0, STACK_INDENT);
	text_style_set(writer, STYLE_QUIET);
	columns_append_start(writer->out, text, writer->verbose ? COLUMNS_ANY : STACK_COLUMNS);
	text_style_set(writer, STYLE_PLAIN);
	buffer_append_string(writer->out, "\n");
}

static void text_frame_or_end(const struct text_writer *writer, const struct report_frame *frame,
			      size_t name_column)
{
	struct buffer remark = { 0 };

	if (frame->kind != FRAME_ERROR) {
		text_frame(writer, frame, name_column);
		return;
	}
	buffer_printf(&remark, "[stack cut short%s%s]", frame->function ? ": " : "",
		      frame->function ? frame->function : "");
	text_remark(writer, remark.data);
	buffer_free(&remark);
}

/* The frames [*ret_first, *ret_last) in the middle that are left out. */
static void text_find_gap(const struct text_writer *writer, const struct report_site *site,
			  size_t *ret_first, size_t *ret_last)
{
	*ret_first = *ret_last = site->frame_count;
	if (writer->verbose || site->frame_count <= FRAMES_SHOWN)
		return;
	*ret_first = FRAMES_INNER;
	*ret_last = site->frame_count - FRAMES_OUTER;
}

/* "parser.c:22", and ":18" behind one in the same file; what has no file by its function, or by its module. */
static void text_append_leaf(struct buffer *out, const struct report_frame *leaf,
			     const struct report_frame *before, size_t width)
{
	if (!leaf->file) {
		columns_append_start(out,
				     frame_has_name(leaf) ? leaf->function
				     : leaf->module	  ? path_tail(leaf->module, 1)
							  : "[unknown]",
				     width);
		return;
	}
	if (!before || !before->file || strcmp(before->file, leaf->file) != 0 || !leaf->line)
		columns_append_end(out, path_tail(leaf->file, 1), width);
	if (leaf->line)
		buffer_printf(out, ":%" PRIu32, leaf->line);
}

/* "via parser.c:22, :18 and 3 more" */
static void text_leaves(const struct text_writer *writer, const struct report_site *site)
{
	const size_t width = STACK_COLUMNS - sizeof("via , and 4294967295 more");
	size_t shown = writer->verbose ? site->leaf_count : LEAVES_SHOWN, more = site->leaves_more;
	struct buffer line = { 0 }, leaf = { 0 };
	size_t i;

	for (i = 0; i < site->leaf_count; i++) {
		buffer_clear(&leaf);
		text_append_leaf(&leaf, &site->leaves[i].frame,
				 i ? &site->leaves[i - 1].frame : NULL,
				 writer->verbose ? COLUMNS_ANY : width);
		if (i >= shown || (i && !writer->verbose &&
				   columns_of(line.data) + columns_of(leaf.data) > width))
			break;
		buffer_append_string(&line, i ? ", " : "");
		buffer_append_string(&line, leaf.data);
	}
	more += site->leaf_count - i;
	if (line.length) {
		columns_pad(writer->out, 0, STACK_INDENT);
		text_style_set(writer, STYLE_QUIET);
		buffer_printf(writer->out, "via %s", line.data);
		if (more)
			buffer_printf(writer->out, " and %zu more", more);
		text_style_set(writer, STYLE_PLAIN);
		buffer_append_string(writer->out, "\n");
	}
	buffer_free(&line);
	buffer_free(&leaf);
}

size_t text_stack_name_column(const struct text_writer *writer, const struct report_site *site)
{
	struct buffer scratch = { 0 };
	struct text_writer measure = { .out = &scratch };
	size_t first, last, i;
	size_t widest = 0;

	text_find_gap(writer, site, &first, &last);
	for (i = 0; i < site->frame_count; i++) {
		size_t width;

		if (i >= first && i < last)
			continue;
		width = site->frames[i].kind == FRAME_ERROR
				? 0
				: text_append_name(&measure, &site->frames[i], COLUMNS_ANY);
		if (width > widest)
			widest = width;
		buffer_clear(&scratch);
	}
	buffer_free(&scratch);
	return widest < NAME_COLUMN_MAX ? widest : NAME_COLUMN_MAX;
}

/* With -v: the stack of the greatest of the sites that a line is made of. */
static void text_greatest(const struct text_writer *writer, const struct report_site *site,
			  size_t name_column)
{
	char remark[64];
	size_t i;

	if (!site->stack_length)
		return;
	snprintf(remark, sizeof(remark),
		 site->stack_count > 1 ? "the greatest of %zu stacks:" : "its stack:",
		 site->stack_count);
	text_remark(writer, remark);
	for (i = 0; i < site->stack_length; i++)
		text_frame_or_end(writer, &site->stack[i], name_column);
}

void text_stack(const struct text_writer *writer, const struct report_site *site,
		size_t name_column)
{
	char remark[64];
	size_t first, last, i;

	if (!site->frame_count && region_has_line(site->region) &&
	    (site->frames_hidden || site->function))
		text_remark(writer, site->frames_hidden ? "[all frames are hidden]" : "[no stack]");
	text_find_gap(writer, site, &first, &last);
	for (i = 0; i < site->frame_count; i++) {
		if (i == first) {
			snprintf(remark, sizeof(remark), "... %zu more frames (-v shows all)",
				 last - first);
			text_remark(writer, remark);
		}
		if (i < first || i >= last)
			text_frame_or_end(writer, &site->frames[i], name_column);
	}
	text_leaves(writer, site);
	text_greatest(writer, site, name_column);
}
