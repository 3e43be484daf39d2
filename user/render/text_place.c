/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See text_place.h. */
#include "render/text_place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/source.h"

/* So many leaves are shown of a row, as far as they fit. */
#define LEAVES_SHOWN 3
/* Less than this is no use for a part of one. */
#define LEAF_MIN 8

/* The last `parts` components of a path, without "./". */
static const char *text_place_tail(const char *path, int parts)
{
	const char *at = path + strlen(path);

	while (at > path && (at[-1] != '/' || --parts > 0))
		at--;
	return strncmp(at, "./", 2) ? at : at + 2;
}

static size_t text_place_less(size_t width, size_t used)
{
	if (width == COLUMNS_ANY)
		return width;
	return width > used ? width - used : 0;
}

bool text_place_has_name(const struct report_frame *frame)
{
	return frame->function && *frame->function;
}

const char *text_place_mark(const struct report_frame *frame)
{
	if (frame->inlined)
		return " [inlined]";
	if (frame->kind == FRAME_JIT)
		return " [jit]";
	return "";
}

/* "libc.so.6+0x2724a" */
static size_t text_place_append_module(struct buffer *out, const struct report_frame *frame,
				       size_t width)
{
	char offset[32] = "";
	size_t used;

	if (!frame->module)
		return columns_append_start(out, "[unknown]", width);
	if (!frame->whole)
		snprintf(offset, sizeof(offset), "+0x%" PRIx64, frame->offset);
	used = columns_append_end(out, text_place_tail(frame->module, 1),
				  text_place_less(width, strlen(offset)));
	buffer_append_string(out, offset);
	return used + strlen(offset);
}

/* "alloc_empty_file+0x4b", "nf_conntrack_alloc+0x20 [nf_conntrack]" */
static size_t text_place_append_kernel(struct buffer *out, const struct report_frame *frame,
				       size_t width)
{
	const char *module = strstr(frame->function, " [");
	size_t length = module ? (size_t)(module - frame->function) : strlen(frame->function);
	struct buffer name = { 0 };
	size_t used;

	buffer_append(&name, frame->function, length);
	if (!frame->whole && frame->offset)
		buffer_printf(&name, "+0x%" PRIx64, frame->offset);
	if (module)
		buffer_append_string(&name, module);
	used = columns_append_start(out, name.data, width);
	buffer_free(&name);
	return used;
}

size_t text_place_append_name(struct buffer *out, const struct report_frame *frame, size_t width)
{
	const char *mark = text_place_mark(frame);
	size_t used;

	width = text_place_less(width, strlen(mark));
	if (text_place_has_name(frame) && frame->kind == FRAME_KERNEL)
		used = text_place_append_kernel(out, frame, width);
	else if (text_place_has_name(frame))
		used = columns_append_start(out, frame->function, width);
	else
		used = text_place_append_module(out, frame, width);
	buffer_append_string(out, mark);
	return used + strlen(mark);
}

/*
 * The end of a frame's path that is shown, as far as there is room: two components, and of an interpreter's lines, which are
 * known by more of them ("app/models/user.rb"), three.
 */
static const char *text_place_path(const struct report_frame *frame, size_t width)
{
	int parts = frame_is_interpreted(frame->kind) ? 3 : 2;

	while (parts > 1 && columns_of(text_place_tail(frame->file, parts)) > width)
		parts--;
	return text_place_tail(frame->file, parts);
}

void text_place_append(struct buffer *out, const struct report_frame *frame, bool paths,
		       size_t width)
{
	char line[16] = "";

	if (frame->file) {
		if (frame->line)
			snprintf(line, sizeof(line), ":%" PRIu32, frame->line);
		width = text_place_less(width, strlen(line));
		columns_append_end(out, paths ? frame->file : text_place_path(frame, width), width);
		buffer_append_string(out, line);
	} else if (frame->module && text_place_has_name(frame) && !paths) {
		columns_append_end(out, text_place_tail(frame->module, 1), width);
	}
}

const struct report_frame *text_place_frame(const struct report_site *site)
{
	size_t at = !region_has_line(site->region)		    ? SIZE_MAX
		    : site->by_line || site->line == REPORT_NO_LINE ? 0
								    : site->line;

	if (at >= site->frame_count || site->frames[at].kind == FRAME_ERROR)
		return NULL;
	return &site->frames[at];
}

static void text_place_append_no_frame(struct buffer *out, const struct report_site *site,
				       size_t width)
{
	struct buffer text = { 0 };

	if (!region_has_line(site->region))
		buffer_append_string(&text, region_title(site->region));
	else if (site->frame_count)
		buffer_printf(&text, "[stack cut short%s%s]", site->frames[0].function ? ": " : "",
			      site->frames[0].function ? site->frames[0].function : "");
	else if (site->frames_hidden)
		buffer_append_string(&text, "[all frames are hidden]");
	else if (site->function)
		buffer_append_string(&text, "[no stack]");
	else if (site->pid)
		buffer_printf(&text, "%s (%d)", site->target->comm, site->pid);
	else
		buffer_append_string(&text, *site->target->comm ? site->target->comm : "[unknown]");
	columns_append_start(out, text.data, width);
	buffer_free(&text);
}

void text_place_append_row(struct buffer *out, const struct report_site *site, size_t width)
{
	const struct report_frame *frame = text_place_frame(site);
	struct buffer name = { 0 };

	if (!frame) {
		text_place_append_no_frame(out, site, width);
	} else if (frame->file) {
		text_place_append(out, frame, false, width);
	} else {
		/* Offset and mark are not cut by it. */
		text_place_append_name(&name, frame, width);
		columns_append_start(out, name.data, width);
	}
	buffer_free(&name);
}

size_t text_place_least(const struct report_site *site)
{
	const struct report_frame *frame = text_place_frame(site);
	struct buffer text = { 0 };
	size_t columns;

	if (frame && frame->file) {
		columns_append_end(&text, text_place_tail(frame->file, 1), COLUMNS_ANY);
		if (frame->line)
			buffer_printf(&text, ":%" PRIu32, frame->line);
	} else {
		text_place_append_row(&text, site, COLUMNS_ANY);
	}
	columns = text.data ? columns_of(text.data) : 0;
	buffer_free(&text);
	return columns;
}

void text_place_append_more(struct buffer *out, const struct report_site *site, size_t width)
{
	const struct report_frame *frame = text_place_frame(site);
	struct buffer classes = { 0 };

	if (site->grown_classes)
		memory_growth_describe(site->grown_classes, &classes);
	if (classes.data)
		columns_append_start(out, classes.data, width);
	buffer_free(&classes);
	if (!frame || !text_place_has_name(frame))
		return;
	if (frame->file)
		columns_append_start(out, frame->function, width);
	else
		text_place_append(out, frame, false, width);
}

static void text_place_append_leaf_name(struct buffer *out, const struct report_frame *leaf,
					size_t width)
{
	columns_append_start(out,
			     text_place_has_name(leaf) ? leaf->function
			     : leaf->module	       ? text_place_tail(leaf->module, 1)
						       : "[unknown]",
			     width);
}

/*
 * "parser.c:22", and ":18" behind one in the same file; what has no file by its function, or by its module. The start of a
 * function is easier to read than the end of a file's name. Returns true if the file is shown.
 */
static bool text_place_append_leaf(struct buffer *out, const struct report_frame *leaf,
				   const struct report_frame *before, size_t width)
{
	const char *file = leaf->file ? text_place_tail(leaf->file, 1) : "";
	char line[16] = "";

	if (leaf->line)
		snprintf(line, sizeof(line), ":%" PRIu32, leaf->line);
	if (before && before->file && leaf->file && !strcmp(before->file, leaf->file) && *line)
		file = "";
	if (!leaf->file || (text_place_has_name(leaf) &&
			    columns_of(file) > text_place_less(width, strlen(line)))) {
		text_place_append_leaf_name(out, leaf, width);
		return false;
	}
	columns_append_end(out, file, text_place_less(width, strlen(line)));
	buffer_append_string(out, line);
	return true;
}

/* As many leaves as fit, but the first one in any case, if there is room for something to read. Returns how many. */
static size_t text_place_append_leaves(struct buffer *out, const struct report_site *site,
				       size_t width)
{
	size_t used = out->data ? columns_of(out->data) : 0, i;
	const struct report_frame *before = NULL;
	const char *separator = used ? " " : "";
	struct buffer leaf = { 0 };

	for (i = 0; i < site->leaf_count && (i < LEAVES_SHOWN || width == COLUMNS_ANY); i++) {
		const struct report_frame *frame = &site->leaves[i].frame;
		size_t room = text_place_less(width, used + strlen(separator));

		buffer_clear(&leaf);
		before = text_place_append_leaf(&leaf, frame, before,
						i || room < LEAF_MIN ? COLUMNS_ANY : room)
				 ? frame
				 : NULL;
		if ((i || used) && columns_of(leaf.data) > room)
			break;
		buffer_printf(out, "%s%s", separator, leaf.data);
		used += columns_of(leaf.data) + strlen(separator);
		separator = ", ";
	}
	buffer_free(&leaf);
	return i;
}

/* " and 3 more" behind the leaves that are shown. */
static size_t text_place_format_rest(const struct report_site *site, size_t shown, char text[32])
{
	size_t more = site->leaves_more + site->leaf_count - shown;

	*text = '\0';
	if (more)
		snprintf(text, 32, " +%zu", more);
	return strlen(text);
}

/* "malloc"; of "operator new(unsigned long)" only "new". */
static void text_place_append_function(struct buffer *out, const struct report_site *site,
				       size_t width)
{
	static const char operator[] = "operator ";
	const char *function = !region_has_line(site->region) ? source_name(site->source)
			       : site->region != REGION_NONE  ? region_title(site->region)
			       : site->function		      ? site->function
							      : source_name(site->source);
	struct buffer name = { 0 };

	if (!strncmp(function, operator, sizeof(operator) - 1))
		function += sizeof(operator) - 1;
	buffer_append(&name, function,
		      *function == '(' ? strlen(function) : strcspn(function, "("));
	columns_append_start(out, name.data, width);
	buffer_free(&name);
}

void text_place_append_via(struct buffer *out, const struct report_site *site, size_t width)
{
	struct buffer line = { 0 };
	size_t shown, room = width, before;
	char rest[32];

	if (!site->leaf_count) {
		text_place_append_function(out, site, width);
		return;
	}
	do {
		buffer_clear(&line);
		buffer_append_string(&line, site->source == SOURCE_MMAP ? "mmap" : "");
		before = room;
		shown = text_place_append_leaves(&line, site, room);
		room = text_place_less(width, text_place_format_rest(site, shown, rest));
	} while (shown > 1 && columns_of(line.data) > room && room < before);
	/* A leaf matters more than how many there are beside it. */
	if (!shown || columns_of(line.data) <= text_place_less(width, strlen(rest)))
		buffer_append_string(&line, rest);
	columns_append_start(out, line.data, width);
	buffer_free(&line);
}
