/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What only a report of tracing without frees (--light) has: where what is in use was read, and what could not be decided. */
#include <stdio.h>

#include "base/units.h"
#include "render/columns.h"
#include "render/text_parts.h"

#define INDENT 5

static void light_append(struct buffer *line, const char *before, uint64_t blocks, uint64_t bytes,
			 const char *behind)
{
	char count[UNITS_TEXT_MAX], size[UNITS_TEXT_MAX];

	if (blocks)
		buffer_printf(line, "%s%s block%s of %s %s", before,
			      units_format_count(blocks, count), units_s(blocks),
			      units_format_size(bytes, size), behind);
}

static void light_heap(const struct text_writer *writer, const struct light_heap *heap)
{
	struct buffer line = { 0 };
	char size[UNITS_TEXT_MAX];

	if (heap->reason) {
		buffer_printf(&line, "warning: process %d: ", heap->pid);
		buffer_append_string(&line, heap->reason);
		light_append(&line, "; ", heap->undecided_blocks, heap->undecided_bytes,
			     "count as in use, since its heap could not be looked at");
		text_style_set(writer, STYLE_WARNING);
	} else {
		buffer_printf(&line, "heap of process %d: ", heap->pid);
		light_append(&line, "", heap->live_blocks, heap->live_bytes, "in use");
		if (!heap->live_blocks)
			buffer_append_string(&line, "nothing in use");
		light_append(&line, "; of these, ", heap->other_blocks, heap->other_bytes,
			     "are older than tracing, or of calls that are not traced");
		light_append(&line, "; whether ", heap->undecided_blocks, heap->undecided_bytes,
			     "are in use was not certain, since the heap was changing: they "
			     "count");
		if (heap->unknown_bytes)
			buffer_printf(&line, "; %s of it were not understood",
				      units_format_size(heap->unknown_bytes, size));
	}
	columns_wrap(writer->out, line.data, writer->width, 2);
	if (heap->reason)
		text_style_set(writer, STYLE_PLAIN);
	buffer_free(&line);
}

void text_light_site(const struct text_writer *writer, const struct report_site *site)
{
	struct buffer line = { 0 };

	light_append(&line, "up to ", site->stats.undecided_objects, site->stats.undecided_bytes,
		     "less: whether they are in use was not certain, since the heap was changing");
	if (line.length) {
		columns_pad(writer->out, 0, INDENT);
		columns_wrap(writer->out, line.data,
			     writer->width == COLUMNS_ANY ? COLUMNS_ANY : writer->width - INDENT,
			     INDENT + 2);
	}
	buffer_free(&line);
}

void text_light(const struct text_writer *writer, const struct light_report *light)
{
	char time[UNITS_TEXT_MAX];
	struct buffer line = { 0 };
	size_t i;

	buffer_printf(&line,
		      "light: frees are not probed; what is in use was read from the heap in %s",
		      units_format_time(light->look_ns, time));
	columns_wrap(writer->out, line.data, writer->width, 2);
	buffer_free(&line);
	for (i = 0; i < light->count; i++)
		light_heap(writer, &light->heaps[i]);
}
