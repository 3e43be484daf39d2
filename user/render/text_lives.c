/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long the blocks of a row live, in the text format. */
#include <math.h>
#include <string.h>

#include "verdict/site_survival.h"
#include "base/units.h"
#include "render/columns.h"
#include "render/text_parts.h"

#define INDENT 5
#define LEAD "lives:"

/* False if fewer have ended at all ages. */
static bool lives_percentile(struct buffer *line, const struct survival *survival, int percent)
{
	char age[UNITS_TEXT_MAX];
	uint64_t age_ns;

	if (!site_survival_age(survival, 1 - percent / 100.0, &age_ns))
		return false;
	buffer_printf(line, "%s %d %% up to %s", line->length > strlen(LEAD) ? "," : "", percent,
		      units_format_time(age_ns, age));
	return true;
}

/* What lives on at the end of the curve: for ever, where that is flat. */
static void lives_end(struct buffer *line, const struct survival *survival)
{
	const struct survival_tail tail = survival_judge_tail(survival);
	char age[UNITS_TEXT_MAX];

	if (!tail.until_ns || !(tail.share.value > 0))
		return;
	buffer_printf(line, "%s %.0f %% ", line->length > strlen(LEAD) ? "," : "",
		      tail.share.value * 100);
	if (tail.shape == SURVIVAL_FLAT)
		buffer_printf(line, "never freed (%.0f to %.0f)", floor(tail.share.low * 100),
			      ceil(tail.share.high * 100));
	else
		buffer_printf(line, "longer than %s", units_format_time(tail.until_ns, age));
}

static void lives_freed(struct buffer *line, const struct site_stats *stats, bool sampled)
{
	const struct lifespans *lives = &stats->lives;
	char mean[UNITS_TEXT_MAX], longest[UNITS_TEXT_MAX];

	if (!lifespans_objects(lives))
		return;
	buffer_printf(line, "%s of those freed %s on average, %s at most",
		      line->length > strlen(LEAD) ? ";" : "",
		      units_format_time(lifespans_mean_ns(lives), mean),
		      units_format_time(lifespans_longest_ns(lives), longest));
	if (!sampled && lives->temporary && stats->alloc_objects)
		buffer_printf(line, "; %.0f %% temporary",
			      100.0 * (double)lives->temporary / (double)stats->alloc_objects);
}

void text_lives(const struct text_writer *writer, const struct report_site *site,
		const double *born)
{
	struct survival survival = { 0 };
	struct buffer line = { 0 };

	if (!writer->verbose || !site_survival_is_known(&site->stats))
		return;
	site_survival_estimate(&site->stats, born, &survival);
	buffer_append_string(&line, LEAD);
	lives_percentile(&line, &survival, 50);
	if (!lives_percentile(&line, &survival, 90))
		lives_end(&line, &survival);
	lives_freed(&line, &site->stats, site->sampled);
	if (line.length > strlen(LEAD)) {
		columns_pad(writer->out, 0, INDENT);
		columns_wrap(writer->out, line.data,
			     writer->width == COLUMNS_ANY ? COLUMNS_ANY : writer->width - INDENT,
			     INDENT + 2);
	}
	buffer_free(&line);
	survival_free(&survival);
}
