/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What realloc has done with the blocks of a row, in the text format. */
#include "base/units.h"
#include "render/columns.h"
#include "render/text_parts.h"
#include "tracer_abi.h"

#define INDENT 5

static const char *realloc_times(uint64_t times)
{
	if (times == LIFE_GROWN_MAX)
		return "times or more";
	return times == 1 ? "time" : "times";
}

static const char *realloc_blocks(uint64_t count)
{
	return count == 1 ? "block" : "blocks";
}

void text_realloc(const struct text_writer *writer, const struct report_site *site)
{
	const struct site_stats *stats = &site->stats;
	char count[UNITS_TEXT_MAX], size[UNITS_TEXT_MAX];
	struct buffer line = { 0 };

	if (stats->grown_objects)
		buffer_printf(&line, ", %s%sgrown by realloc %s%s %s",
			      site->container ? site->container : "", site->container ? " " : "",
			      site_stats_inuse_objects(stats) > 1 ? "up to " : "",
			      units_format_count(stats->grown_times, count),
			      realloc_times(stats->grown_times));
	if (stats->added_objects)
		buffer_printf(&line, ", %s %s not recorded before realloc: what it added counts",
			      units_format_count(stats->added_objects, count),
			      realloc_blocks(stats->added_objects));
	if (stats->unknown_objects)
		buffer_printf(&line, ", %s %s (%s) not recorded before realloc: all counts",
			      units_format_count(stats->unknown_objects, count),
			      realloc_blocks(stats->unknown_objects),
			      units_format_size(stats->unknown_bytes, size));
	if (line.length) {
		columns_pad(writer->out, 0, INDENT);
		columns_wrap(writer->out, line.data + 2,
			     writer->width == COLUMNS_ANY ? COLUMNS_ANY : writer->width - INDENT,
			     INDENT + 2);
	}
	buffer_free(&line);
}
