/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The most that was in use, and how fast rows allocate, in verbose text. */
#include "analyze/report_peak.h"
#include "base/units.h"
#include "render/columns.h"
#include "render/text_parts.h"

#define INDENT 5

static void peak_write(const struct text_writer *writer, size_t indent, const char *line)
{
	columns_pad(writer->out, 0, indent);
	columns_wrap(writer->out, line,
		     writer->width == COLUMNS_ANY ? COLUMNS_ANY : writer->width - indent,
		     indent + 2);
}

void text_peak(const struct text_writer *writer, const struct report *report)
{
	const struct peak *peak = &report->peak;
	char size[UNITS_TEXT_MAX], time[UNITS_TEXT_MAX], spacing[UNITS_TEXT_MAX];
	struct buffer line = { 0 };

	if (!writer->verbose || !report_peak_is_tracked(report) || !peak->known)
		return;
	buffer_printf(&line, "peak: %s in use %s after tracing began, of moments up to %s apart",
		      units_format_size(peak->bytes, size), units_format_time(peak->time_ns, time),
		      units_format_time(peak->spacing_ns, spacing));
	peak_write(writer, 0, line.data);
	buffer_free(&line);
}

void text_peak_site(const struct text_writer *writer, const struct report *report,
		    const struct report_site *site)
{
	const uint64_t rate = report_peak_rate(report, site->stats.alloc_bytes);
	char size[UNITS_TEXT_MAX];
	struct buffer line = { 0 };
	uint64_t bytes;

	if (!writer->verbose || !report_peak_is_tracked(report))
		return;
	buffer_printf(&line, "allocates %s/s on average", units_format_size(rate, size));
	if (report_peak_of(report, site, &bytes))
		buffer_printf(&line, "; %s in use at the peak", units_format_size(bytes, size));
	peak_write(writer, INDENT, line.data);
	buffer_free(&line);
}
