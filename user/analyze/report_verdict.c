/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See report_verdict.h. */
#include "analyze/report_verdict.h"

#include <math.h>

bool report_verdict_is_known(const struct report_options *options)
{
	return options->history || options->estimates;
}

static const struct verdict none = { .r2 = -1, .early_share = -1 };

static struct verdict_input verdict_input_of(const struct report_options *options,
					     uint64_t start_ns, uint64_t now_ns,
					     const struct site_stats *stats,
					     const struct history_point *points)
{
	return (struct verdict_input){ .stats = stats,
				       .start_ns = start_ns,
				       .now_ns = now_ns,
				       .times = options->history->times,
				       .points = points,
				       .count = options->history->count,
				       .step_ns = options->history->step_ns };
}

static bool verdict_is_of_several(const struct snapshot_site *row)
{
	return row->mixed && row->member_count > 1;
}

static bool verdict_member_leaks(const struct snapshot *snapshot,
				 const struct report_options *options,
				 const struct snapshot_site *row)
{
	size_t i;

	for (i = 0; i < row->member_count; i++)
		if (report_verdict_of(snapshot, options, &row->members[i]).word == VERDICT_LEAK)
			return true;
	return false;
}

/* As windows have found it. */
static struct verdict verdict_estimated(const struct snapshot *snapshot,
					const struct report_options *options,
					const struct snapshot_site *row)
{
	const struct budget_estimate estimate = budget_estimate_of(options->estimates, row);

	if (verdict_is_of_several(row))
		return verdict_of_estimates(&estimate,
					    verdict_member_leaks(snapshot, options, row));
	return verdict_of_estimate(&estimate);
}

/*
 * In a row of several places, some blocks are freed at one and others stay at another one: together they look like a leak, and what leaks at
 * one is too little to be seen. Such a row leaks if one of its sites does.
 */
struct verdict report_verdict_of(const struct snapshot *snapshot,
				 const struct report_options *options,
				 const struct snapshot_site *row)
{
	struct history_point points[HISTORY_POINTS] = { 0 };
	struct verdict_input input;
	struct site_stats stats;

	if (options->estimates)
		return verdict_estimated(snapshot, options, row);
	if (!options->history || row->ended || row->sampled ||
	    !history_is_known(options->history, row))
		return none;
	stats = site_stats_counted(&row->stats, false);
	history_add_row(options->history, row, points);
	input = verdict_input_of(options, snapshot->start_ns, snapshot->time_ns, &stats, points);
	if (verdict_is_of_several(row))
		return verdict_of_sum(&input, verdict_member_leaks(snapshot, options, row));
	return verdict_of(&input);
}

struct budget_estimate report_verdict_estimate(const struct report_options *options,
					       const struct snapshot_site *row,
					       const struct verdict *verdict)
{
	struct budget_estimate estimate = budget_estimate_of(options->estimates, row);

	if (!verdict_is_of_several(row))
		return estimate;
	if (verdict->word == VERDICT_LEAK)
		estimate.verdict = BUDGET_LEAK;
	else if (estimate.verdict == BUDGET_LEAK)
		estimate.verdict = BUDGET_UNKNOWN;
	return estimate;
}

bool report_verdict_born(const struct report *report, const struct report_site *site,
			 double ret_born[LIFE_CLASSES])
{
	const struct report_options *options = &report->options;
	struct history_point points[HISTORY_POINTS] = { 0 };
	const struct snapshot_site *row = site->origin;
	struct verdict_input input;
	struct verdict_line line;
	struct site_stats stats;
	unsigned int i;
	double ago_s, all_s = (double)report->duration_ns / 1e9;

	if (!options->history || options->estimates || row->ended || row->sampled ||
	    !history_is_known(options->history, row))
		return false;
	stats = site_stats_counted(&row->stats, false);
	history_add_row(options->history, row, points);
	input = verdict_input_of(options, report->start_ns, report->start_ns + report->duration_ns,
				 &stats, points);
	verdict_line_make(&input, &line);
	for (i = 0; i < LIFE_CLASSES; i++) {
		ago_s = (double)lifespans_class_end(i) / 1e9;
		ret_born[i] = ago_s < all_s ? verdict_line_born(&line, all_s - ago_s) : 0;
	}
	return true;
}

/* Sites that are judged, as a row. */
static struct history_point *verdict_sum(const struct snapshot *snapshot,
					 const struct history *history,
					 struct history_point sum[HISTORY_POINTS],
					 struct site_stats *ret_stats)
{
	struct site_stats stats;
	size_t i;

	for (i = 0; i < snapshot->site_count; i++) {
		const struct snapshot_site *site = &snapshot->sites[i];

		if (site->ended || site->sampled || !history_is_known(history, site))
			continue;
		stats = site_stats_counted(&site->stats, false);
		site_stats_add(ret_stats, &stats);
		history_add_row(history, site, sum);
	}
	return sum;
}

/* In windows: a row that grows does not make the process grow, if others shrink. */
static struct verdict verdict_of_windows(const struct budget_estimates *estimates,
					 enum verdict_word worst)
{
	struct verdict verdict = none;

	verdict.estimated = true;
	verdict.growth = estimates->counted ? estimates->growth
					    : (struct estimate){ 0, -INFINITY, INFINITY };
	verdict.word = VERDICT_UNKNOWN;
	if (worst == VERDICT_LEAK || (worst == VERDICT_GROWING && verdict.growth.low > 0))
		verdict.word = worst;
	return verdict;
}

struct verdict report_verdict_of_all(const struct snapshot *snapshot,
				     const struct report_options *options, enum verdict_word worst)
{
	struct history_point points[HISTORY_POINTS] = { 0 };
	struct site_stats stats = { 0 };
	struct verdict_input input;

	if (options->estimates)
		return verdict_of_windows(options->estimates, worst);
	if (!options->history)
		return none;
	input = verdict_input_of(options, snapshot->start_ns, snapshot->time_ns, &stats,
				 verdict_sum(snapshot, options->history, points, &stats));
	return verdict_of_sum(&input, worst == VERDICT_LEAK);
}
