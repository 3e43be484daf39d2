/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of processes in the text format: what each of them holds, the largest first. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/units.h"
#include "render/columns.h"
#include "render/text_parts.h"

#define ROW "%7s  %10s  %11s  "
#define ROW_MORE "%10s  %10s  "
#define ROW_COLUMNS 34
#define ROW_MORE_COLUMNS 24
#define ENDED " (ended)"
#define PROCESSES_SHOWN 5

/* A process's position in the report, and what it is ranked by. */
struct row {
	uint64_t bytes;
	size_t index;
};

static int row_compare(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	if (left->bytes != right->bytes)
		return left->bytes > right->bytes ? -1 : 1;
	return (left->index > right->index) - (left->index < right->index);
}

/* For all figures? */
static bool process_has_room(const struct text_writer *writer)
{
	return writer->width >= ROW_COLUMNS + ROW_MORE_COLUMNS + COMM_MAX;
}

static size_t process_name_columns(const struct text_writer *writer, bool exited)
{
	size_t used = ROW_COLUMNS + (process_has_room(writer) ? ROW_MORE_COLUMNS : 0) +
		      (exited ? sizeof(ENDED) - 1 : 0);
	size_t room = writer->width > used ? writer->width - used : 0;

	return room < COMM_MAX ? room : COMM_MAX;
}

static void text_process(const struct text_writer *writer, const struct target *target,
			 const struct site_stats *stats, bool sampled)
{
	char inuse[UNITS_TEXT_MAX + 1], blocks[UNITS_TEXT_MAX + 1];
	char allocated[UNITS_TEXT_MAX + 1], freed[UNITS_TEXT_MAX + 1], pid[16];

	snprintf(pid, sizeof(pid), "%d", target->pid);
	units_format_size(site_stats_inuse_bytes(stats), inuse);
	text_format_count(site_stats_inuse_objects(stats), blocks);
	units_format_size(stats->alloc_bytes, allocated);
	units_format_size(stats->free_bytes, freed);
	buffer_printf(writer->out, ROW, pid, text_approximate(inuse, sampled),
		      text_approximate(blocks, sampled));
	if (process_has_room(writer))
		buffer_printf(writer->out, ROW_MORE, text_approximate(allocated, sampled),
			      text_approximate(freed, sampled));
	columns_append_start(writer->out, target->comm,
			     process_name_columns(writer, target->exited));
	buffer_append_string(writer->out, target->exited ? ENDED "\n" : "\n");
}

void text_processes(const struct text_writer *writer, const struct report *report)
{
	struct row *rows = memory_alloc(report->target_count, sizeof(*rows));
	size_t shown = report->target_count, i;
	char count[UNITS_TEXT_MAX];

	for (i = 0; i < report->target_count; i++)
		rows[i] = (struct row){ site_stats_inuse_bytes(&report->target_totals[i]), i };
	qsort(rows, report->target_count, sizeof(*rows), row_compare);
	if (!writer->verbose && shown > PROCESSES_SHOWN)
		shown = PROCESSES_SHOWN;
	buffer_append_string(writer->out, "\n");
	text_style_set(writer, STYLE_QUIET);
	buffer_printf(writer->out, ROW, "PID", "IN USE", "BLOCKS");
	if (process_has_room(writer))
		buffer_printf(writer->out, ROW_MORE, "ALLOCATED", "FREED");
	buffer_append_string(writer->out, "PROCESS");
	text_style_set(writer, STYLE_PLAIN);
	buffer_append_string(writer->out, "\n");
	for (i = 0; i < shown; i++)
		text_process(writer, report->targets[rows[i].index],
			     &report->target_totals[rows[i].index],
			     report->target_sampled[rows[i].index]);
	if (shown < report->target_count)
		buffer_printf(writer->out, "%7s  %s more process%s (-v shows all)\n", "",
			      units_format_count(report->target_count - shown, count),
			      report->target_count - shown == 1 ? "" : "es");
	free(rows);
}
