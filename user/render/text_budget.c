/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What only a report of tracing in windows (--budget) has. "~" is before each estimate, and its interval behind it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "render/text_parts.h"

#define INDENT 4
#define SECOND 1000000000ULL

/* A number of bytes as whole ones, however large. */
static uint64_t budget_bytes(double bytes)
{
	return bytes > 0 ? bytes < 1e18 ? (uint64_t)(bytes + 0.5) : (uint64_t)1e18 : 0;
}

/* The limits in the unit of the higher one, since that is easier to compare: "5.4-5.9 MiB". Returns where the unit begins. */
static const char *budget_limits(const struct estimate *rate, char *low, char *high)
{
	const char *unit;
	double factor;

	units_format_size(budget_bytes(rate->high), high);
	unit = strchr(high, ' ');
	factor = budget_bytes(rate->high) ? strtod(high, NULL) / rate->high : 1;
	snprintf(low, UNITS_TEXT_MAX, unit && unit[1] == 'B' ? "%.0f" : "%.1f",
		 fmax(rate->low, 0) * factor);
	return unit ? unit + 1 : "";
}

const char *text_budget_rate(const struct budget_estimate *estimate, char *text)
{
	char low[UNITS_TEXT_MAX], high[UNITS_TEXT_MAX], value[UNITS_TEXT_MAX];
	const struct estimate *rate = &estimate->rate;
	const char *unit;
	double factor;

	if (!estimate->known)
		return strcpy(text, "-");
	if (!isfinite(rate->high)) {
		units_format_size(budget_bytes(rate->low), value);
		snprintf(text, UNITS_TEXT_MAX, ">%.30s", value);
		return estimate->lower_bound ? text : strcpy(text, "?");
	}
	unit = budget_limits(rate, low, high);
	factor = budget_bytes(rate->high) ? strtod(high, NULL) / rate->high : 1;
	snprintf(value, sizeof(value), *unit == 'B' ? "%.0f" : "%.1f", rate->value * factor);
	high[strcspn(high, " ")] = '\0';
	snprintf(text, UNITS_TEXT_MAX, "~%.7s (%.7s-%.7s) %.3s", value, low, high, unit);
	return text;
}

const char *text_budget_verdict(const struct budget_estimate *estimate)
{
	static const char *const words[] = { [BUDGET_UNKNOWN] = "?",
					     [BUDGET_LEAK] = "yes",
					     [BUDGET_GROWING] = "?",
					     [BUDGET_CACHE] = "no" };

	return words[estimate->verdict];
}

static void budget_append_verdict(struct buffer *line, const struct budget_estimate *estimate)
{
	static const char *const words[] = { [BUDGET_UNKNOWN] = "not yet known whether it leaks",
					     [BUDGET_LEAK] = "a leak",
					     [BUDGET_GROWING] =
						     "a leak, or a cache that is not full",
					     [BUDGET_CACHE] = "no leak as far as is known" };
	char time[UNITS_TEXT_MAX];

	buffer_append_string(line, words[estimate->verdict]);
	if (estimate->steady)
		buffer_append_string(line, ", but it does not grow now");
	else if (estimate->wait_ns)
		buffer_printf(line, " (look for about %s more)",
			      units_format_time((estimate->wait_ns + SECOND - 1) / SECOND * SECOND,
						time));
	buffer_append_string(line, ": ");
}

static void budget_append_rate(struct buffer *line, const struct budget_estimate *estimate)
{
	char text[UNITS_TEXT_MAX];

	if (estimate->lower_bound && !isfinite(estimate->rate.high))
		buffer_printf(line, "at least %s per second",
			      units_format_size(budget_bytes(estimate->rate.low), text));
	else if (!isfinite(estimate->rate.high))
		buffer_append_string(line, "growth not yet known");
	else
		buffer_printf(line, "%s per second", text_budget_rate(estimate, text));
}

/* ", ~370.6 (355.3-371.4) MiB since the attach" */
static void budget_append_gained(struct buffer *line, const struct budget_estimate *estimate)
{
	struct budget_estimate gained = { .known = true, .rate = estimate->bytes };
	char text[UNITS_TEXT_MAX];

	if (!(gained.rate.value >= 1))
		return;
	if (isfinite(gained.rate.high))
		buffer_printf(line, ", %s", text_budget_rate(&gained, text));
	else
		buffer_printf(line, ", at least %s",
			      units_format_size(budget_bytes(gained.rate.low), text));
	buffer_append_string(line, " since the attach");
}

/* ", ~+2.4 MiB (+1.1 MiB to +3.2 MiB) since --from" */
static void budget_append_since(struct buffer *line, const struct report *report,
				const struct budget_estimate *estimate)
{
	char text[TEXT_LIMITS_MAX];

	if (!report->options.estimates->since_known)
		return;
	if (estimate->since_known)
		buffer_printf(line, ", %s since --from",
			      text_format_limits(&estimate->since, text));
	else
		buffer_append_string(line, ", since --from not known: its heap was not counted");
}

/* "12 alive but written (~0 (0-184.7) KiB per second, if they are growth)" */
static void budget_append_written(struct buffer *line, const struct budget_estimate *estimate)
{
	const struct budget_estimate written = { .known = true, .rate = estimate->written_rate };
	char text[UNITS_TEXT_MAX];

	buffer_printf(line, ", %s alive but written", units_format_count(estimate->written, text));
	if (estimate->written_rate.value >= 1 && isfinite(estimate->written_rate.high))
		buffer_printf(line, " (%s per second, if they are growth)",
			      text_budget_rate(&written, text));
}

static void budget_append_blocks(struct buffer *line, const struct budget_estimate *estimate)
{
	char text[UNITS_TEXT_MAX], time[UNITS_TEXT_MAX];

	if (!estimate->followed)
		return;
	buffer_printf(line, "; of %s block%s seen", units_format_count(estimate->followed, text),
		      units_s(estimate->followed));
	buffer_printf(line, " %s unchanged", units_format_count(estimate->unchanged, text));
	if (estimate->unchanged)
		buffer_printf(line, ", ~%s old on average",
			      units_format_time(estimate->mean_age_ns, time));
	if (estimate->written)
		budget_append_written(line, estimate);
	if (estimate->freed)
		buffer_printf(line, ", %s freed", units_format_count(estimate->freed, text));
	if (estimate->lost)
		buffer_printf(line, ", %s lost sight of", units_format_count(estimate->lost, text));
}

/* "~12 % (11-13 %)" */
static void budget_append_share(struct buffer *line, const struct estimate *share)
{
	buffer_printf(line, "~%.0f %% (%.0f-%.0f %%)", 100 * share->value, 100 * share->low,
		      100 * share->high);
}

static void budget_append_tail(struct buffer *line, const struct budget_estimate *estimate)
{
	const struct survival_tail *tail = &estimate->tail;
	char time[UNITS_TEXT_MAX];

	if (!tail->until_ns)
		return;
	buffer_append_string(line, "; ");
	budget_append_share(line, &tail->share);
	if (budget_estimate_stays(estimate))
		buffer_append_string(line, " are never freed");
	else
		buffer_printf(line, " live longer than %s%s",
			      units_format_time(tail->until_ns, time),
			      tail->shape == SURVIVAL_FALLING ? ", ever fewer" : "");
}

/* "; older than 1.0 s ~82 % (81-86), 4.0 s ~48 % (46-53)": every second age, with `all` each. */
static void budget_append_survival(struct buffer *line, const struct survival *survival, bool all)
{
	char time[UNITS_TEXT_MAX];
	size_t i;

	for (i = 0; i < survival->count; i += all ? 1 : 2) {
		const struct estimate *share = &survival->points[i].share;

		buffer_printf(line, "%s %s ", i ? "," : "; older than",
			      units_format_time(survival->points[i].age_ns, time));
		buffer_printf(line, "~%.0f %% (%.0f-%.0f)", 100 * share->value, 100 * share->low,
			      100 * share->high);
	}
}

/* "; in use from an age of 0 s on 20 unchanged, 1.0 s on 14 unchanged and 2 written" */
static void budget_append_ages(struct buffer *line, const struct budget_life *life)
{
	char count[UNITS_TEXT_MAX], time[UNITS_TEXT_MAX];
	const char *lead = "; in use from an age of";
	int age;

	for (age = 0; age < BUDGET_AGES; age++) {
		const struct budget_age *row = &life->ages[age];

		if (!row->unchanged.seen && !row->written.seen)
			continue;
		buffer_printf(line, "%s %s on %s unchanged", lead,
			      units_format_time(budget_age_least_ns((enum budget_ages)age), time),
			      units_format_count(row->unchanged.seen, count));
		if (row->written.seen)
			buffer_printf(line, " and %s written",
				      units_format_count(row->written.seen, count));
		lead = ",";
	}
}

static void budget_append_lives(struct buffer *line, const struct report *report,
				const struct report_site *site, bool all)
{
	const struct budget_estimates *estimates = report->options.estimates;
	struct survival survival = { 0 };
	struct budget_life life;

	budget_estimate_survival(estimates, site->origin, &survival);
	budget_append_survival(line, &survival, all);
	survival_free(&survival);
	if (!all)
		return;
	budget_estimate_life(estimates, site->origin, &life);
	budget_append_ages(line, &life);
}

void text_budget_site(const struct text_writer *writer, const struct report *report,
		      const struct report_site *site)
{
	const struct budget_estimate *estimate = &site->estimate;
	struct buffer line = { 0 };

	if (!estimate->known)
		return;
	budget_append_verdict(&line, estimate);
	budget_append_rate(&line, estimate);
	budget_append_gained(&line, estimate);
	budget_append_since(&line, report, estimate);
	budget_append_blocks(&line, estimate);
	budget_append_tail(&line, estimate);
	budget_append_lives(&line, report, site, writer->verbose);
	columns_pad(writer->out, 0, INDENT);
	columns_wrap(writer->out, line.data,
		     writer->width == COLUMNS_ANY ? COLUMNS_ANY : writer->width - INDENT,
		     INDENT + 2);
	buffer_free(&line);
}

/* What of the cost showed nothing, by the share in all hits; windows that could not be, and those that were too long. */
static void budget_append_overhead(struct buffer *line, const struct budget_report *report)
{
	char count[UNITS_TEXT_MAX], limit[UNITS_TEXT_MAX], most[UNITS_TEXT_MAX];

	if (report->hits && report->edge_hits)
		buffer_printf(line, "; overhead: about %.0f %% of it, while probes went in and out",
			      100 * (double)report->edge_hits / (double)report->hits);
	if (report->lost_count)
		buffer_printf(line,
			      "; in %s nothing was recorded: not all probes could be put in, or "
			      "not in time",
			      units_format_count(report->lost_count, count));
	if (report->over_count)
		buffer_printf(line, "; %s took more than %s of a thread's time, at most %s",
			      units_format_count(report->over_count, count),
			      units_format_time(report->max_window_ns, limit),
			      units_format_time(report->longest_ns, most));
}

/* "cost 0.8 % of the target's CPU time in 31 windows" */
static void budget_cost(const struct text_writer *writer, const struct budget_report *report)
{
	uint64_t share = budget_cost_share(report);
	char count[UNITS_TEXT_MAX], time[UNITS_TEXT_MAX];
	struct buffer line = { 0 };

	buffer_append_string(&line, "cost ");
	if (!report->cpu_ns)
		buffer_append_string(&line, "no part");
	else if (share < 50)
		buffer_append_string(&line, "less than 0.1 %");
	else
		buffer_printf(&line, "%s%.1f %%", report->cost_unknown ? "at most " : "",
			      (double)share / 1000);
	buffer_printf(&line, " of the target's CPU time in %s window%s",
		      units_format_count(report->window_count, count),
		      units_s(report->window_count));
	buffer_printf(&line, " of %s in all", units_format_time(report->traced_ns, time));
	buffer_printf(&line, ", %s block%s recorded", units_format_count(report->recorded, count),
		      units_s(report->recorded));
	budget_append_overhead(&line, report);
	columns_wrap(writer->out, line.data, writer->width, 2);
	buffer_free(&line);
}

/* Growth that no site has. */
static void budget_rest(const struct text_writer *writer, const struct estimate *rest,
			const char *what)
{
	const struct budget_estimate of_none = { .known = true, .rate = *rest };
	struct buffer line = { 0 };

	if (!(rest->value >= 1))
		return;
	buffer_append_string(&line, what);
	budget_append_rate(&line, &of_none);
	columns_wrap(writer->out, line.data, writer->width, 2);
	buffer_free(&line);
}

/* Several processes may have one reason. */
static bool budget_has_reason(const struct budget_report *report, size_t count, const char *reason)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (report->heaps[i].reason && !strcmp(report->heaps[i].reason, reason))
			return true;
	return false;
}

static void budget_heaps(const struct text_writer *writer, const struct budget_report *report)
{
	struct buffer line = { 0 };
	size_t i;

	for (i = 0; i < report->heap_count; i++) {
		if (!report->heaps[i].reason ||
		    budget_has_reason(report, i, report->heaps[i].reason))
			continue;
		buffer_clear(&line);
		buffer_append_string(&line, "rates are lower bounds: ");
		buffer_append_string(&line, report->heaps[i].reason);
		columns_wrap(writer->out, line.data, writer->width, 2);
	}
	buffer_free(&line);
}

/* Of many processes, some are looked at now and others later. */
static void budget_processes(const struct text_writer *writer, const struct budget_report *report)
{
	char count[UNITS_TEXT_MAX], time[UNITS_TEXT_MAX];
	struct buffer line = { 0 };

	if (report->processes <= report->pass_most && !report->processes_unseen)
		return;
	buffer_printf(&line, "%s processes, of which at most %zu are looked at in one pass",
		      units_format_count(report->processes, count), report->pass_most);
	buffer_printf(&line, ": the oldest look was %s ago",
		      units_format_time(report->oldest_look_ns, time));
	if (report->processes_unseen)
		buffer_printf(&line, ", and %s were not looked at yet",
			      units_format_count(report->processes_unseen, count));
	columns_wrap(writer->out, line.data, writer->width, 2);
	buffer_free(&line);
}

/* Which rows are claimed to be leaks: those alone. */
static void budget_claims(const struct text_writer *writer, const struct report *report)
{
	struct buffer line = { 0 };
	size_t leaks = 0, i;

	for (i = 0; i < report->site_count; i++)
		leaks += report->sites[i].estimate.verdict == BUDGET_LEAK;
	if (leaks)
		buffer_printf(&line, "%zu of these rows %s", leaks,
			      leaks == 1 ? "is a leak (LEAK \"yes\")" : "are leaks (LEAK \"yes\")");
	else
		buffer_append_string(&line, "no row is known to be a leak");
	buffer_append_string(&line, "; of those with \"?\" it is not yet known");
	columns_wrap(writer->out, line.data, writer->width, 2);
	buffer_free(&line);
}

void text_budget(const struct text_writer *writer, const struct report *report)
{
	const struct budget_estimates *estimates = report->options.estimates;

	budget_claims(writer, report);
	budget_rest(writer, &estimates->written, "alive but written to: ");
	budget_rest(writer, &estimates->unknown, "cannot be attributed: ");
	budget_heaps(writer, estimates->report);
	budget_processes(writer, estimates->report);
	budget_cost(writer, estimates->report);
}
