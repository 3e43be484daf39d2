/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The metrics format: what Prometheus scrapes (text exposition format 0.0.4). Series are few: of processes and of sites only those
 * that hold most, and the rest in one series, "other". A name from a target is a label's value, made safe and cut.
 *
 * What is counted and only grows is a counter, but for sums of several processes: they shrink when one ends, which would look
 * as if a counter had begun anew. Estimates are gauges, and the label "quality" marks them.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/report_verdict.h"
#include "base/compare.h"
#include "base/memory.h"
#include "model/loss.h"
#include "render/formats.h"
#include "render/metrics_labels.h"

/* Processes with series of their own. */
#define PROCESSES_MAX 200

/* A process, or the rest of them. */
struct metrics_process {
	struct buffer labels;
	uint64_t rss_bytes, swap_bytes, threads;
	bool known; /* these three are */
	struct site_stats stats;
	bool is_rest, is_exact;
};

struct metrics {
	const struct report *report;
	const struct render_options *options;
	struct buffer *out;
	struct metrics_process *processes;
	size_t process_count;
	size_t running; /* processes, with and without series of their own */
	struct buffer *labels; /* of the listed sites; empty = not shown */
	struct site_stats rest; /* of the other sites */
};

/* Lines */

static void metrics_head(struct metrics *metrics, const char *name, const char *type,
			 const char *help)
{
	buffer_printf(metrics->out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* `labels` without braces; "" = none. */
static void metrics_integer(struct metrics *metrics, const char *name, const char *labels,
			    uint64_t number)
{
	buffer_printf(metrics->out, "%s%s%s%s %" PRIu64 "\n", name, *labels ? "{" : "", labels,
		      *labels ? "}" : "", number);
}

static void metrics_number(struct metrics *metrics, const char *name, const char *labels,
			   double number)
{
	buffer_printf(metrics->out, "%s%s%s%s ", name, *labels ? "{" : "", labels,
		      *labels ? "}" : "");
	if (isnan(number))
		buffer_append_string(metrics->out, "NaN\n");
	else if (isinf(number))
		buffer_append_string(metrics->out, number > 0 ? "+Inf\n" : "-Inf\n");
	else
		buffer_printf(metrics->out, "%.9g\n", number);
}

static void metrics_gauge(struct metrics *metrics, const char *name, const char *help,
			  uint64_t number)
{
	metrics_head(metrics, name, "gauge", help);
	metrics_integer(metrics, name, "", number);
}

static void metrics_ratio(struct metrics *metrics, const char *name, const char *help,
			  double number)
{
	metrics_head(metrics, name, "gauge", help);
	metrics_number(metrics, name, "", number);
}

/* Processes */

/* Those that hold most come first. */
static int metrics_compare(const void *a, const void *b)
{
	const struct metrics_process *left = a, *right = b;
	int order = compare_numbers(site_stats_inuse_bytes(&right->stats),
				    site_stats_inuse_bytes(&left->stats));

	return order ? order : compare_numbers(right->rss_bytes, left->rss_bytes);
}

static void metrics_add_process(struct metrics *metrics, size_t index)
{
	const struct report *report = metrics->report;
	const struct target *target = report->targets[index];
	struct metrics_process *to = &metrics->processes[metrics->process_count];
	const bool sampled = report->target_sampled[index];

	if (target->exited)
		return;
	*to = (struct metrics_process){ .stats = report->target_totals[index],
					.known = target->usage.known,
					.rss_bytes = target->usage.rss_bytes,
					.swap_bytes = target->usage.swap_bytes,
					.threads = target->usage.threads,
					.is_exact = !report->options.estimates };
	metrics_labels_process(&to->labels, target, metrics_labels_quality(report, sampled));
	metrics->process_count++;
}

/* All from `first` on become one. */
static void metrics_join_processes(struct metrics *metrics, size_t first)
{
	struct metrics_process *rest = &metrics->processes[first], *each;
	size_t i;

	if (metrics->process_count <= first)
		return;
	for (i = first + 1; i < metrics->process_count; i++) {
		each = &metrics->processes[i];
		site_stats_add(&rest->stats, &each->stats);
		rest->known &= each->known;
		rest->rss_bytes += each->rss_bytes;
		rest->swap_bytes += each->swap_bytes;
		rest->threads += each->threads;
		buffer_free(&each->labels);
	}
	buffer_clear(&rest->labels);
	metrics_labels_rest_of_processes(&rest->labels,
					 metrics_labels_quality(metrics->report, false));
	rest->is_rest = true;
	metrics->process_count = first + 1;
}

static void metrics_collect_processes(struct metrics *metrics)
{
	size_t i;

	metrics->processes =
		memory_alloc(metrics->report->target_count + 1, sizeof(*metrics->processes));
	for (i = 0; i < metrics->report->target_count; i++)
		metrics_add_process(metrics, i);
	metrics->running = metrics->process_count;
	if (metrics->process_count)
		qsort(metrics->processes, metrics->process_count, sizeof(*metrics->processes),
		      metrics_compare);
	metrics_join_processes(metrics, PROCESSES_MAX);
}

/* Returns false where there is none. */
typedef bool metrics_process_figure(const struct metrics_process *process, uint64_t *ret_number);

#define PROCESS_FIGURE(name, condition, value)                                    \
	static bool metrics_process_##name(const struct metrics_process *process, \
					   uint64_t *ret_number)                  \
	{                                                                         \
		*ret_number = value;                                              \
		return condition;                                                 \
	}

PROCESS_FIGURE(rss, process->known, process->rss_bytes)
PROCESS_FIGURE(swap, process->known, process->swap_bytes)
PROCESS_FIGURE(threads, process->known, process->threads)
PROCESS_FIGURE(inuse_bytes, true, site_stats_inuse_bytes(&process->stats))
PROCESS_FIGURE(inuse_objects, true, site_stats_inuse_objects(&process->stats))
PROCESS_FIGURE(alloc_bytes, process->is_exact && !process->is_rest, process->stats.alloc_bytes)
PROCESS_FIGURE(alloc_objects, process->is_exact && !process->is_rest, process->stats.alloc_objects)
PROCESS_FIGURE(free_bytes, process->is_exact && !process->is_rest, process->stats.free_bytes)
PROCESS_FIGURE(free_objects, process->is_exact && !process->is_rest, process->stats.free_objects)

static const struct {
	const char *name, *type, *help;
	metrics_process_figure *figure;
} process_families[] = {
	{ "tracer_process_resident_bytes", "gauge", "Resident memory (RSS) of a traced process.",
	  metrics_process_rss },
	{ "tracer_process_swap_bytes", "gauge", "Memory of a traced process in swap.",
	  metrics_process_swap },
	{ "tracer_process_threads", "gauge", "Threads of a traced process.",
	  metrics_process_threads },
	{ "tracer_process_inuse_bytes", "gauge",
	  "What a process has allocated since tracing began and not freed.",
	  metrics_process_inuse_bytes },
	{ "tracer_process_inuse_objects", "gauge",
	  "Blocks that a process has allocated since tracing began and not freed.",
	  metrics_process_inuse_objects },
	{ "tracer_process_allocated_bytes_total", "counter",
	  "What a process has allocated since tracing began.", metrics_process_alloc_bytes },
	{ "tracer_process_allocated_objects_total", "counter",
	  "Blocks that a process has allocated since tracing began.",
	  metrics_process_alloc_objects },
	{ "tracer_process_freed_bytes_total", "counter",
	  "What a process has freed of what it has allocated since tracing began.",
	  metrics_process_free_bytes },
	{ "tracer_process_freed_objects_total", "counter",
	  "Blocks that a process has freed of those that it has allocated since tracing began.",
	  metrics_process_free_objects },
};

static void metrics_write_processes(struct metrics *metrics)
{
	uint64_t number;
	size_t i, j;

	for (i = 0; i < sizeof(process_families) / sizeof(process_families[0]); i++) {
		metrics_head(metrics, process_families[i].name, process_families[i].type,
			     process_families[i].help);
		for (j = 0; j < metrics->process_count; j++)
			if (process_families[i].figure(&metrics->processes[j], &number))
				metrics_integer(metrics, process_families[i].name,
						metrics->processes[j].labels.data, number);
	}
}

/* Sites */

/* Sums may be at their limit. */
static void metrics_subtract(uint64_t *from, uint64_t number)
{
	*from -= number < *from ? number : *from;
}

/* What ended programs held is in no total, and its process has no series either. */
static void metrics_collect_sites(struct metrics *metrics)
{
	const struct report *report = metrics->report;
	struct report_site site;
	size_t i;

	metrics->rest = report->totals;
	metrics->labels = memory_alloc(report->site_count + 1, sizeof(*metrics->labels));
	for (i = 0; i < report->site_count; i++) {
		const struct site_stats *stats = &report->sites[i].stats;

		if (report->sites[i].ended)
			continue;
		site = report_open_site(report, i);
		metrics_labels_site(&metrics->labels[i], report, &site);
		report_close_site(&site);
		metrics_subtract(&metrics->rest.alloc_bytes, stats->alloc_bytes);
		metrics_subtract(&metrics->rest.alloc_objects, stats->alloc_objects);
		metrics_subtract(&metrics->rest.free_bytes, stats->free_bytes);
		metrics_subtract(&metrics->rest.free_objects, stats->free_objects);
	}
	site_stats_limit_freed(&metrics->rest);
}

typedef uint64_t metrics_site_figure(const struct site_stats *stats);

#define SITE_FIGURE(name)                                                   \
	static uint64_t metrics_site_##name(const struct site_stats *stats) \
	{                                                                   \
		return stats->name;                                         \
	}

SITE_FIGURE(alloc_bytes)
SITE_FIGURE(alloc_objects)
SITE_FIGURE(free_bytes)
SITE_FIGURE(free_objects)

static const struct {
	const char *name, *type, *help;
	metrics_site_figure *figure;
	bool counter;
} site_families[] = {
	{ "tracer_site_inuse_bytes", "gauge",
	  "What a call site has allocated since tracing began and not freed.",
	  site_stats_inuse_bytes, false },
	{ "tracer_site_inuse_objects", "gauge",
	  "Blocks of a call site that are in use, of those allocated since tracing began.",
	  site_stats_inuse_objects, false },
	{ "tracer_site_allocated_bytes_total", "counter",
	  "What a call site has allocated since tracing began.", metrics_site_alloc_bytes, true },
	{ "tracer_site_allocated_objects_total", "counter",
	  "Blocks that a call site has allocated since tracing began.", metrics_site_alloc_objects,
	  true },
	{ "tracer_site_freed_bytes_total", "counter",
	  "What of a call site's blocks has been freed.", metrics_site_free_bytes, true },
	{ "tracer_site_freed_objects_total", "counter",
	  "Blocks of a call site that have been freed.", metrics_site_free_objects, true },
};

/* Sums of several processes are no counters. */
static bool metrics_site_counts(const struct metrics *metrics, const struct report_site *site)
{
	return !metrics->report->options.estimates && site->process_count <= 1;
}

static void metrics_write_family(struct metrics *metrics, size_t family)
{
	const struct report *report = metrics->report;
	const char *name = site_families[family].name;
	const bool counter = site_families[family].counter;
	struct buffer rest = { 0 };
	size_t i;

	metrics_head(metrics, name, site_families[family].type, site_families[family].help);
	for (i = 0; i < report->site_count && render_drain(metrics->options, metrics->out); i++)
		if (metrics->labels[i].length &&
		    (!counter || metrics_site_counts(metrics, &report->sites[i])))
			metrics_integer(metrics, name, metrics->labels[i].data,
					site_families[family].figure(&report->sites[i].stats));
	if (counter)
		return;
	metrics_labels_rest_of_sites(&rest, metrics_labels_quality(report, false));
	metrics_integer(metrics, name, rest.data, site_families[family].figure(&metrics->rest));
	buffer_free(&rest);
}

/* A verdict is a state: the series of the present word is 1, others are not there. */
static void metrics_write_verdicts(struct metrics *metrics)
{
	const struct report *report = metrics->report;
	struct buffer labels = { 0 };
	size_t i;

	metrics_head(metrics, "tracer_site_verdict", "gauge",
		     "1 for the present verdict on a call site: leak, growing, filling, cache, "
		     "warm-up, steady, temporary or unknown.");
	for (i = 0; i < report->site_count; i++) {
		if (!metrics->labels[i].length || report->sites[i].verdict.word == VERDICT_NONE)
			continue;
		buffer_clear(&labels);
		buffer_printf(&labels, "%s,verdict=\"%s\"", metrics->labels[i].data,
			      verdict_name(report->sites[i].verdict.word));
		metrics_integer(metrics, "tracer_site_verdict", labels.data, 1);
	}
	buffer_free(&labels);
}

static void metrics_write_limit(struct metrics *metrics, const char *name, const char *of,
				const char *limit, double number)
{
	struct buffer labels = { 0 };

	buffer_printf(&labels, "%s%slimit=\"%s\"", of, *of ? "," : "", limit);
	metrics_number(metrics, name, labels.data, number);
	buffer_free(&labels);
}

/* `of`: labels that all three have; "" = none. */
static void metrics_write_estimate(struct metrics *metrics, const char *name, const char *of,
				   const struct estimate *estimate)
{
	metrics_write_limit(metrics, name, of, "low", estimate->low);
	metrics_write_limit(metrics, name, of, "mid", estimate->value);
	metrics_write_limit(metrics, name, of, "high", estimate->high);
}

static void metrics_write_growth(struct metrics *metrics)
{
	const struct report *report = metrics->report;
	size_t i;

	metrics_head(metrics, "tracer_site_growth_bytes_per_second", "gauge",
		     "How fast what a call site holds grows of late: estimated (mid), with the "
		     "limits of 95 % (low, high).");
	for (i = 0; i < report->site_count; i++) {
		const struct verdict *verdict = &report->sites[i].verdict;

		if (!metrics->labels[i].length || verdict->word == VERDICT_NONE)
			continue;
		metrics_write_estimate(metrics, "tracer_site_growth_bytes_per_second",
				       metrics->labels[i].data, &verdict->growth);
	}
}

static void metrics_write_sites(struct metrics *metrics)
{
	size_t i;

	for (i = 0; i < sizeof(site_families) / sizeof(site_families[0]); i++)
		metrics_write_family(metrics, i);
	if (!report_verdict_is_known(&metrics->report->options))
		return;
	metrics_write_verdicts(metrics);
	metrics_write_growth(metrics);
}

/* The run */

static void metrics_write_run(struct metrics *metrics)
{
	const struct report *report = metrics->report;

	metrics_head(metrics, "tracer_build_info", "gauge", "1, with the version of the tracer.");
	metrics_integer(metrics, "tracer_build_info", "version=\"" TRACER_VERSION "\"", 1);
	metrics_head(metrics, "tracer_snapshot_timestamp_seconds", "gauge",
		     "When these figures were read, as seconds since the epoch.");
	buffer_printf(metrics->out, "tracer_snapshot_timestamp_seconds %" PRId64 "\n",
		      report->wall_time);
	metrics_ratio(metrics, "tracer_traced_seconds", "How long tracing has gone on.",
		      (double)report->duration_ns / 1e9);
	metrics_gauge(metrics, "tracer_processes", "Processes that are traced and run.",
		      metrics->running);
	metrics_gauge(metrics, "tracer_sites", "Call sites that hold something.",
		      report->sites_in_use);
	metrics_gauge(metrics, "tracer_leaks", "Call sites with the verdict leak.", report->leaks);
	if (!report_verdict_is_known(&report->options) || report->verdict.word == VERDICT_NONE)
		return;
	metrics_head(metrics, "tracer_verdict", "gauge",
		     "1 for the present verdict on all call sites together.");
	buffer_printf(metrics->out, "tracer_verdict{verdict=\"%s\"} 1\n",
		      verdict_name(report->verdict.word));
}

static void metrics_write_losses(struct metrics *metrics)
{
	struct buffer label = { 0 };
	int loss;

	metrics_head(metrics, "tracer_losses_total", "counter",
		     "What was not recorded, or not as a whole, by what it is: see tracer(8), "
		     "Loss.");
	for (loss = 0; loss < LOSS_COUNT; loss++) {
		buffer_clear(&label);
		buffer_printf(&label, "loss=\"%s\"", loss_name((enum loss)loss));
		metrics_integer(metrics, "tracer_losses_total", label.data,
				metrics->report->loss[loss]);
	}
	buffer_free(&label);
}

/* Thousandths of a percent. */
static double metrics_share(uint64_t share)
{
	return (double)share / 100000;
}

static void metrics_write_price(struct metrics *metrics)
{
	const struct price *price = &metrics->report->price;

	if (price->counted)
		metrics_gauge(metrics, "tracer_price_calls_per_second",
			      "Calls of probed functions in a second, when tracing began.",
			      price_calls_per_second(price));
	if (!price->measured)
		return;
	metrics_ratio(metrics, "tracer_price_call_seconds",
		      "CPU time that tracing takes for a call, when tracing began.",
		      (double)price->call_ns / 1e9);
	metrics_ratio(metrics, "tracer_price_core_ratio",
		      "CPU time that tracing took of one core, when it began: 1 is all of it.",
		      metrics_share(price_share(price)));
}

/* Growth of heaps that no site is charged with, and of all of it. */
static void metrics_write_rest(struct metrics *metrics, const struct budget_estimates *estimates)
{
	if (!estimates->counted)
		return;
	metrics_head(
		metrics, "tracer_budget_growth_bytes_per_second", "gauge",
		"How fast the heaps grow that can be counted: estimated (mid), with the limits "
		"of 95 % (low, high).");
	metrics_write_estimate(metrics, "tracer_budget_growth_bytes_per_second", "",
			       &estimates->growth);
	metrics_head(metrics, "tracer_budget_written_bytes_per_second", "gauge",
		     "Of this, what blocks in use that are written to may be: estimated.");
	metrics_write_estimate(metrics, "tracer_budget_written_bytes_per_second", "",
			       &estimates->written);
	metrics_head(metrics, "tracer_budget_unattributed_bytes_per_second", "gauge",
		     "Of this, what cannot be attributed to a call site: estimated.");
	metrics_write_estimate(metrics, "tracer_budget_unattributed_bytes_per_second", "",
			       &estimates->unknown);
}

static void metrics_write_budget(struct metrics *metrics)
{
	const struct budget_report *budget;

	if (!metrics->report->options.estimates)
		return;
	budget = metrics->report->options.estimates->report;
	metrics_ratio(metrics, "tracer_budget_ratio",
		      "The share of the processes' CPU time that tracing may take.",
		      metrics_share(budget->budget));
	metrics_ratio(metrics, "tracer_budget_spent_ratio",
		      "The share of the processes' CPU time that tracing has taken.",
		      metrics_share(budget_cost_share(budget)));
	metrics_head(metrics, "tracer_budget_cost_seconds_total", "counter",
		     "CPU time of the processes that tracing has taken.");
	metrics_number(metrics, "tracer_budget_cost_seconds_total", "",
		       (double)budget->cost_ns / 1e9);
	metrics_head(metrics, "tracer_budget_windows_total", "counter",
		     "Windows in which calls were traced.");
	metrics_integer(metrics, "tracer_budget_windows_total", "", budget->window_count);
	metrics_write_rest(metrics, metrics->report->options.estimates);
}

static void metrics_free(struct metrics *metrics)
{
	size_t i;

	for (i = 0; i < metrics->process_count; i++)
		buffer_free(&metrics->processes[i].labels);
	for (i = 0; i < metrics->report->site_count; i++)
		buffer_free(&metrics->labels[i]);
	free(metrics->processes);
	free(metrics->labels);
}

void render_metrics(const struct report *report, const struct render_options *options,
		    struct buffer *out)
{
	struct metrics metrics = { .report = report, .options = options, .out = out };

	metrics_collect_processes(&metrics);
	metrics_collect_sites(&metrics);
	metrics_write_run(&metrics);
	metrics_write_processes(&metrics);
	metrics_write_sites(&metrics);
	metrics_write_losses(&metrics);
	metrics_write_price(&metrics);
	metrics_write_budget(&metrics);
	metrics_free(&metrics);
}
