/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verdicts, in the text format. */
#include "analyze/verdict_clause.h"
#include "render/columns.h"
#include "render/text_parts.h"

#define INDENT 5

/* "LEAK: 12 % of blocks never freed ..." */
static void verdict_line(const struct text_writer *writer, const char *before,
			 const struct verdict *verdict, size_t indent)
{
	struct buffer line = { 0 };

	buffer_printf(&line, "%s%s: ", before, verdict_clause_title(verdict->word));
	verdict_clause_append(verdict, &line);
	columns_pad(writer->out, 0, indent);
	columns_wrap(writer->out, line.data,
		     writer->width == COLUMNS_ANY ? COLUMNS_ANY : writer->width - indent,
		     indent + 2);
	buffer_free(&line);
}

void text_verdict_site(const struct text_writer *writer, const struct report *report,
		       const struct report_site *site)
{
	/* As long as nothing is known of all rows, the line behind them is enough. */
	if (site->verdict.word != VERDICT_NONE &&
	    (site->verdict.word != VERDICT_UNKNOWN || report->verdict.word != VERDICT_UNKNOWN))
		verdict_line(writer, "", &site->verdict, INDENT);
}

void text_verdict(const struct text_writer *writer, const struct report *report)
{
	struct buffer before = { 0 };

	if (report->verdict.word == VERDICT_NONE)
		return;
	buffer_append_string(&before, "verdict: ");
	if (report->leaks)
		buffer_printf(&before, "%zu row%s: ", report->leaks, report->leaks == 1 ? "" : "s");
	verdict_line(writer, before.data, &report->verdict, 0);
	buffer_free(&before);
}
