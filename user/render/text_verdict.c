/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verdicts, in the text format. */
#include <stdio.h>
#include <string.h>

#include "verdict/verdict_clause.h"
#include "base/units.h"
#include "render/columns.h"
#include "render/text_parts.h"

#define INDENT 5
#define VERDICT_SINCE_MAX (UNITS_TEXT_MAX + 32)

/* "LEAK: 12 % of blocks never freed ...", and what is behind it. */
static void verdict_line(const struct text_writer *writer, const char *before,
			 const struct verdict *verdict, const char *behind, size_t indent)
{
	struct buffer line = { 0 };

	buffer_printf(&line, "%s%s: ", before, verdict_clause_title(verdict->word));
	verdict_clause_append(verdict, &line);
	buffer_append_string(&line, behind);
	columns_pad(writer->out, 0, indent);
	columns_wrap(writer->out, line.data,
		     writer->width == COLUMNS_ANY ? COLUMNS_ANY : writer->width - indent,
		     indent + 2);
	buffer_free(&line);
}

/* "; since 5m00s of tracing": of a recording, and of a row that is one site, as it was judged when that was made. */
static const char *verdict_since(const struct text_writer *writer, const struct report *report,
				 const struct report_site *site, char text[VERDICT_SINCE_MAX])
{
	const struct snapshot_site *row = site->origin;
	char time[UNITS_TEXT_MAX];

	text[0] = '\0';
	if (row->member_count == 1)
		row = row->members;
	if (!writer->verbose || row->member_count || !row->word ||
	    row->word_ns < report->start_ns || strcmp(row->word, verdict_name(site->verdict.word)))
		return text;
	snprintf(text, VERDICT_SINCE_MAX, "; since %s of tracing",
		 units_format_time(row->word_ns - report->start_ns, time));
	return text;
}

void text_verdict_site(const struct text_writer *writer, const struct report *report,
		       const struct report_site *site)
{
	char since[VERDICT_SINCE_MAX];

	/* As long as nothing is known of all rows, the line behind them is enough. */
	if (site->verdict.word != VERDICT_NONE &&
	    (site->verdict.word != VERDICT_UNKNOWN || report->verdict.word != VERDICT_UNKNOWN))
		verdict_line(writer, "", &site->verdict, verdict_since(writer, report, site, since),
			     INDENT);
}

void text_verdict(const struct text_writer *writer, const struct report *report)
{
	struct buffer before = { 0 };

	if (report->verdict.word == VERDICT_NONE)
		return;
	buffer_append_string(&before, "verdict: ");
	if (report->leaks)
		buffer_printf(&before, "%zu row%s: ", report->leaks, units_s(report->leaks));
	verdict_line(writer, before.data, &report->verdict, "", 0);
	buffer_free(&before);
}
