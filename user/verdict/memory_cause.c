/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See memory_cause.h. */
#include "verdict/memory_cause.h"

#include <stdio.h>
#include <string.h>

bool memory_cause_matters(const struct memory_report *report, uint64_t bytes, unsigned int percent)
{
	uint64_t rss = report->process.rss_bytes;

	return bytes >= MEMORY_CAUSE_MIN && bytes / percent >= rss / 100;
}

static const char *cause_format(const struct memory_report *report, uint64_t rss, uint64_t pss,
				const char *unit, share_text text)
{
	size_text size, shared;

	units_format_size(rss, size);
	if (report->member_count > 1 && !report->pss_unknown)
		snprintf(text, sizeof(share_text), "%s%s (%s PSS)", size, unit,
			 units_format_size(pss, shared));
	else
		snprintf(text, sizeof(share_text), "%s%s", size, unit);
	return text;
}

const char *memory_cause_format_whole(const struct memory_report *report, share_text text)
{
	return cause_format(report, report->process.rss_bytes, report->process.pss_bytes, " RSS",
			    text);
}

const char *memory_cause_format_share(const struct memory_report *report, uint64_t rss,
				      uint64_t pss, share_text text)
{
	return cause_format(report, rss, pss, "", text);
}

/* Ways to holders begin with an arrow: "< app::Req +16 < static M". */
static const char *cause_skip_arrow(const char *holder)
{
	return holder + strspn(holder, "< ");
}

/* Words of the table of kinds that need more of them in a sentence. */
static const char *cause_word(const char *kind)
{
	if (!strcmp(kind, "linked"))
		return "blocks that are linked to each other";
	if (!strcmp(kind, "tree node"))
		return "nodes of a tree";
	if (!strcmp(kind, "data"))
		return "data of no known type";
	return strcmp(kind, "pointers") != 0 ? kind : "arrays of pointers";
}

void memory_cause_append_kind(const struct memory_kind *kind, struct buffer *text)
{
	buffer_append_string(text, cause_word(kind->kind));
	if (kind->name && *kind->name)
		buffer_printf(text, " %s", kind->name);
	if (kind->holder && *kind->holder)
		buffer_printf(text, ", held by %s", cause_skip_arrow(kind->holder));
}

void memory_cause_add(struct memory_report *report, const char *cause, uint64_t bytes, char *text,
		      char *remedy)
{
	const struct memory_verdict verdict = {
		.cause = cause, .bytes = bytes, .text = text, .remedy = remedy
	};

	memory_report_add_verdict(report, &verdict);
}
