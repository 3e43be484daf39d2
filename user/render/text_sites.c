/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of sites in the text format: a row of figures, then the function that was called, then its stack. */
#include <inttypes.h>
#include <stdio.h>

#include "base/strings.h"
#include "base/units.h"
#include "model/source.h"
#include "render/columns.h"
#include "render/formats.h"
#include "render/text_style.h"

#define HINT_INDENT 7

#define ROW "%5s  %10s  %6s  %11s  %10s  %10s  %10s"

bool text_shows_site(const struct report *report, const struct report_site *site)
{
	return !report_sort_is_inuse(report->options.sort) || site_stats_hold(&site->stats);
}

static const char *text_format_share(uint64_t part, uint64_t whole, char text[UNITS_TEXT_MAX])
{
	uint64_t tenths;

	if (!whole || part > whole)
		return "-";
	tenths = (uint64_t)(((unsigned __int128)part * 1000 + whole / 2) / whole);
	snprintf(text, UNITS_TEXT_MAX, "%" PRIu64 ".%" PRIu64 "%%", tenths / 10, tenths % 10);
	return text;
}

/* `totals` NULL: what an ended program held, which is no part of them. `sampled`: some of it is an estimate. */
static void text_row(const struct text_writer *writer, const char *label, bool sampled,
		     const struct site_stats *stats, const struct site_stats *totals,
		     const char *oldest)
{
	char inuse[UNITS_TEXT_MAX + 1], share[UNITS_TEXT_MAX], blocks[UNITS_TEXT_MAX + 1];
	char allocated[UNITS_TEXT_MAX + 1], freed[UNITS_TEXT_MAX + 1];

	units_format_size(site_stats_inuse_bytes(stats), inuse);
	text_format_count(site_stats_inuse_objects(stats), blocks);
	units_format_size(stats->alloc_bytes, allocated);
	units_format_size(stats->free_bytes, freed);
	text_style_set(writer, STYLE_STRONG);
	buffer_printf(writer->out, ROW, label, text_approximate(inuse, sampled),
		      totals ? text_format_share(site_stats_inuse_bytes(stats),
						 site_stats_inuse_bytes(totals), share)
			     : "ended",
		      text_approximate(blocks, sampled), text_approximate(allocated, sampled),
		      text_approximate(freed, sampled), oldest);
	while (writer->out->data[writer->out->length - 1] == ' ')
		writer->out->data[--writer->out->length] = '\0';
	text_style_set(writer, STYLE_PLAIN);
	buffer_append_string(writer->out, "\n");
}

/* " in puma (812)", or of a line in processes of one program " in 2 of 4 processes of puma". */
static void text_process(struct buffer *line, const struct report_site *site)
{
	buffer_append_string(line, " in ");
	if (site->of_processes > 1)
		buffer_printf(line, "%zu of %zu processes of ", site->process_count,
			      site->of_processes);
	columns_append_start(line, site->target->comm, COMM_MAX);
	if (site->process_count == 1)
		buffer_printf(line, " (%d)", site->pid);
}

/* "Ruby heap pages (mmap), 2.1 MiB resident" */
static void text_region(struct buffer *line, const struct report_site *site)
{
	char size[UNITS_TEXT_MAX];

	if (site->region != REGION_NONE)
		buffer_printf(line, "%s (%s)", region_title(site->region),
			      source_name(site->source));
	if (site->resident_known && site_stats_hold(&site->stats))
		buffer_printf(line, ", %s resident",
			      units_format_size(site->stats.resident_bytes, size));
	if (!region_has_line(site->region))
		buffer_append_string(line, "; what is in them is not shown");
}

/* "malloc (glibc, heap)", with the process where there are several. */
static void text_call_name(const struct text_writer *writer, struct buffer *line,
			   const struct report_site *site)
{
	if (site->function) {
		columns_append_start(line, site->function, writer->verbose ? COLUMNS_ANY : 32);
		buffer_append_string(line, " (");
	}
	if (site->allocator) {
		columns_append_start(line, site->allocator, 12);
		buffer_append_string(line, ", ");
	}
	buffer_append_string(line, source_name(site->source));
	if (site->function && site->sampled)
		buffer_append_string(line, ", estimated from samples");
	if (site->function)
		buffer_append_string(line, ")");
	else if (site->sampled)
		buffer_append_string(line, ", estimated from samples,");
}

static void text_call(const struct text_writer *writer, const struct report *report,
		      const struct report_site *site)
{
	size_t width = writer->verbose ? COLUMNS_ANY : TEXT_COLUMNS;
	struct buffer line = { 0 };

	buffer_append_string(&line, "       ");
	if (site->region == REGION_NONE)
		text_call_name(writer, &line, site);
	text_region(&line, site);
	if (report->target_count > 1 || !site->function)
		text_process(&line, site);
	columns_append_start(writer->out, line.data, width);
	buffer_append_string(writer->out, "\n");
	buffer_free(&line);
}

/* Print what may have the names that a row lacks, unless a row before it has the same. */
static void text_hint(const struct text_writer *writer, const struct report_site *site,
		      struct strings *hints)
{
	size_t before = hints->by_hash.count;

	if (!strings_keep(hints, site->hint) || hints->by_hash.count == before)
		return;
	columns_pad(writer->out, 0, HINT_INDENT);
	text_style_set(writer, STYLE_QUIET);
	columns_wrap(writer->out, site->hint,
		     writer->verbose ? COLUMNS_ANY : TEXT_COLUMNS - HINT_INDENT, HINT_INDENT + 2);
	writer->out->length--;
	text_style_set(writer, STYLE_PLAIN);
	buffer_append_string(writer->out, "\n");
}

/* `hints`: those that have been printed. */
static void text_site(const struct text_writer *writer, const struct report *report,
		      const struct report_site *site, size_t name_column, struct strings *hints)
{
	char rank[24], oldest[UNITS_TEXT_MAX];
	bool holds = site_stats_hold(&site->stats);

	snprintf(rank, sizeof(rank), "%zu", site->rank);
	text_row(writer, rank, site->sampled, &site->stats, site->ended ? NULL : &report->totals,
		 holds ? units_format_time(site->stats.oldest_ns, oldest) : "-");
	text_call(writer, report, site);
	text_realloc(writer, &site->stats);
	text_stack(writer, site, name_column);
	text_hint(writer, site, hints);
	buffer_append_string(writer->out, "\n");
}

/* Print what the sites hold that --only leaves out. */
static void text_left_out(const struct text_writer *writer, const struct report *report)
{
	uint64_t bytes = site_stats_inuse_bytes(&report->left_out);
	char size[UNITS_TEXT_MAX], count[UNITS_TEXT_MAX];

	if (report->sites_left_out)
		buffer_printf(writer->out,
			      "       without %s site%s with %s in use, left out by --only\n\n",
			      units_format_count(report->sites_left_out, count),
			      report->sites_left_out == 1 ? "" : "s",
			      units_format_size(bytes, size));
}

/* Print what the sites hold that are not shown. */
static void text_rest(const struct text_writer *writer, const struct report *report)
{
	char size[UNITS_TEXT_MAX], count[UNITS_TEXT_MAX];
	uint64_t bytes = site_stats_inuse_bytes(&report->totals);
	uint64_t left_out = site_stats_inuse_bytes(&report->left_out);
	size_t sites = report->sites_in_use;
	size_t i;

	bytes -= left_out < bytes ? left_out : bytes;
	for (i = 0; i < report->site_count; i++) {
		uint64_t shown = site_stats_inuse_bytes(&report->sites[i].stats);

		if (report->sites[i].ended)
			continue;
		bytes -= shown < bytes ? shown : bytes;
		sites -= site_stats_hold(&report->sites[i].stats);
	}
	text_left_out(writer, report);
	if (!sites)
		return;
	buffer_printf(writer->out, "       and %s more site%s with %s in use (-n 0 shows all)\n\n",
		      units_format_count(sites, count), sites == 1 ? "" : "s",
		      units_format_size(bytes, size));
}

/* A person must not take an estimate for a count. */
static void text_samples(const struct text_writer *writer, const struct report *report)
{
	char count[UNITS_TEXT_MAX];
	struct buffer line = { 0 };

	if (!report->recorded.samples)
		return;
	buffer_printf(&line, "~ estimated from %s sample%s published by the program",
		      units_format_count(report->recorded.samples, count),
		      report->recorded.samples == 1 ? "" : "s");
	columns_wrap(writer->out, line.data, writer->verbose ? COLUMNS_ANY : TEXT_COLUMNS, 2);
	buffer_free(&line);
}

/* The column that the function names of all shown sites need. */
static size_t text_name_column(const struct text_writer *writer, const struct report *report)
{
	size_t widest = 0, column, i;
	struct report_site site;

	for (i = 0; i < report->site_count; i++) {
		if (!text_shows_site(report, &report->sites[i]))
			continue;
		site = report_open_site(report, i);
		column = text_stack_name_column(writer, &site);
		report_close_site(&site);
		if (column > widest)
			widest = column;
	}
	return widest;
}

void text_sites(const struct text_writer *writer, const struct report *report,
		const struct render_options *options)
{
	size_t name_column = text_name_column(writer, report), i;
	struct strings hints = { 0 };
	struct report_site site;

	text_style_set(writer, STYLE_QUIET);
	buffer_printf(writer->out, ROW, "#", "IN USE", "%", "BLOCKS", "ALLOCATED", "FREED",
		      "OLDEST");
	text_style_set(writer, STYLE_PLAIN);
	buffer_append_string(writer->out, "\n");
	for (i = 0; i < report->site_count && render_drain(options, writer->out); i++) {
		if (!text_shows_site(report, &report->sites[i]))
			continue;
		site = report_open_site(report, i);
		text_site(writer, report, &site, name_column, &hints);
		report_close_site(&site);
	}
	strings_free(&hints);
	text_rest(writer, report);
	text_row(writer, "total", report->sampled.alloc_objects, &report->totals, &report->totals,
		 "");
	if (site_stats_hold(&report->ended))
		text_row(writer, "ended", report->ended_sampled, &report->ended, NULL, "");
	text_samples(writer, report);
	if (report->target_count > 1)
		text_processes(writer, report);
}
