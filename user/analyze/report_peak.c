/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See report_peak.h. */
#include "analyze/report_peak.h"

#define SECOND_NS 1000000000

static struct peak_source report_peak_source(const struct report *report)
{
	const struct report_options *options = &report->options;

	return (struct peak_source){
		.history = options->without_young ? NULL : options->history,
		.timeline = options->timeline,
		.start_ns = report->start_ns,
	};
}

bool report_peak_is_tracked(const struct report *report)
{
	const struct peak_source source = report_peak_source(report);

	return source.history || source.timeline;
}

struct peak report_peak_find(const struct report *report)
{
	const struct peak_source source = report_peak_source(report);

	return peak_find(&source, site_stats_inuse_bytes(&report->totals), report->duration_ns);
}

bool report_peak_of(const struct report *report, const struct report_site *site,
		    uint64_t *ret_bytes)
{
	const struct peak_source source = report_peak_source(report);

	return peak_of_row(&report->peak, &source, site->origin,
			   site_stats_inuse_bytes(&site->stats), ret_bytes);
}

uint64_t report_peak_rate(const struct report *report, uint64_t bytes)
{
	const unsigned __int128 rate =
		report->duration_ns ? (unsigned __int128)bytes * SECOND_NS / report->duration_ns
				    : 0;

	return rate < UINT64_MAX ? (uint64_t)rate : UINT64_MAX;
}
