/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The JSON format: one object on one line per report. Names and meanings are a contract with other programs; a key is never
 * renamed, and what is unknown is null. In schema 2, what rows have in common is in tables (json_tables.h), and otherwise they
 * are as in schema 1.
 */
#include <inttypes.h>
#include <stdio.h>

#include "analyze/report_verdict.h"
#include "model/loss.h"
#include "model/source.h"
#include "render/formats.h"
#include "render/json_births.h"
#include "render/json_budget.h"
#include "render/json_frame.h"
#include "render/json_light.h"
#include "render/json_lives.h"
#include "render/json_peak.h"
#include "render/json_tables.h"
#include "render/json_verdict.h"
#include "render/json_watch.h"
#include "render/json_member.h"
#include "render/json_writer.h"

static void json_stats(struct json_writer *json, const struct site_stats *stats)
{
	json_member_integer(json, "inuse_bytes", site_stats_inuse_bytes(stats));
	json_member_integer(json, "inuse_objects", site_stats_inuse_objects(stats));
	json_member_integer(json, "alloc_bytes", stats->alloc_bytes);
	json_member_integer(json, "alloc_objects", stats->alloc_objects);
	json_member_integer(json, "free_bytes", stats->free_bytes);
	json_member_integer(json, "free_objects", stats->free_objects);
}

/* Only estimates are marked. */
static void json_sampled(struct json_writer *json, bool sampled)
{
	if (!sampled)
		return;
	json_member_bool(json, "sampled", true);
}

/* And how much of the totals is an estimate. */
static void json_totals_sampled(struct json_writer *json, const struct report *report)
{
	if (!report->sampled.alloc_objects)
		return;
	json_sampled(json, true);
	json_member_integer(json, "sampled_inuse_bytes", site_stats_inuse_bytes(&report->sampled));
	json_member_integer(json, "sampled_inuse_objects",
			    site_stats_inuse_objects(&report->sampled));
}

/* What of a target's calls is missing because its probes came late. */
static void json_late(struct json_writer *json, const struct lateness *late)
{
	size_t i;

	json_writer_key(json, "late");
	if (!late) {
		json_writer_null(json);
		return;
	}
	json_writer_open(json, '{');
	json_writer_key(json, "files");
	json_writer_open(json, '[');
	for (i = 0; i < late->file_count; i++) {
		json_writer_open(json, '{');
		json_member_string(json, "file", late->files[i].path);
		json_member_seconds(json, "seconds", late->files[i].ns, true);
		json_writer_close(json, '}');
	}
	json_writer_close(json, ']');
	json_member_integer(json, "files_unlisted", late->files_unlisted);
	json_member_seconds(json, "child_s", late->child_ns, late->child_ns);
	json_member_integer(json, "memory_shared", late->memory_shared);
	json_writer_close(json, '}');
}

static void json_files(struct json_writer *json, const struct target *target)
{
	json_member_known(json, "open_files", target->files, target->files_known);
	json_member_known(json, "open_files_at_attach", target->files_first, target->files_known);
}

static void json_process(struct json_writer *json, const struct target_usage *usage)
{
	json_writer_key(json, "process");
	json_writer_open(json, '{');
	json_member_known(json, "rss_bytes", usage->rss_bytes, usage->known);
	json_member_known(json, "pss_bytes", usage->pss_bytes, usage->pss_known);
	json_member_known(json, "swap_bytes", usage->swap_bytes, usage->known);
	json_member_known(json, "threads", usage->threads, usage->known);
	json_writer_close(json, '}');
}

static void json_targets(struct json_writer *json, const struct report *report)
{
	size_t i;

	json_writer_key(json, "targets");
	json_writer_open(json, '[');
	for (i = 0; i < report->target_count; i++) {
		const struct target *target = report->targets[i];

		json_writer_open(json, '{');
		json_member_integer(json, "pid", (uint64_t)target->pid);
		json_member_string(json, "comm", target->comm);
		json_member_string(json, "exe", target->exe);
		json_member_string(json, "cwd", target->directory);
		json_member_bool(json, "exited", target->exited);
		json_stats(json, &report->target_totals[i]);
		json_sampled(json, report->target_sampled[i]);
		json_late(json, target->late);
		json_files(json, target);
		json_process(json, &target->usage);
		json_writer_close(json, '}');
	}
	json_writer_close(json, ']');
}

static void json_loss(struct json_writer *json, const struct report *report)
{
	int loss;

	json_writer_key(json, "loss");
	json_writer_open(json, '{');
	for (loss = 0; loss < LOSS_COUNT; loss++)
		json_member_integer(json, loss_name((enum loss)loss), report->loss[loss]);
	json_writer_close(json, '}');
}

/* `share`: thousandths of a percent, which are written as milliseconds are. */
static void json_share(struct json_writer *json, const char *key, uint64_t share, bool known)
{
	json_member_seconds(json, key, share * 1000000, known);
}

static void json_price(struct json_writer *json, const struct price *price)
{
	json_writer_key(json, "price");
	json_writer_open(json, '{');
	json_member_known(json, "trap_ns", price->call_ns, price->measured);
	json_member_known(json, "calls_per_s", price_calls_per_second(price), price->counted);
	json_share(json, "percent", price_share(price), price->measured);
	json_member_seconds(json, "window_s", price->window_ns, price->counted);
	json_member_known(json, "calls", price->calls, price->counted);
	json_member_known(json, "threads", price->threads, price->counted);
	json_share(json, "busiest_percent", price_busiest_share(price), price->measured);
	json_share(json, "slowdown", price_slowdown(price), price->measured);
	json_writer_close(json, '}');
}

static void json_frame(struct json_writer *json, const struct report_frame *frame)
{
	if (json->tables) {
		json_writer_integer(json, json_tables_frame(json->tables, frame));
		return;
	}
	json_frame_write(json, frame);
}

static void json_stack(struct json_writer *json, const struct report_site *site)
{
	uint32_t position;
	bool known;
	size_t i;

	if (json->tables) {
		known = json_tables_stack(json->tables, site->frames, site->frame_count, &position);
		json_member_known(json, "stack", position, known);
		return;
	}
	json_writer_key(json, "frames");
	json_writer_open(json, '[');
	for (i = 0; i < site->frame_count; i++)
		json_frame(json, &site->frames[i]);
	json_writer_close(json, ']');
}

static void json_call(struct json_writer *json, const struct report_site *site)
{
	if (json->tables) {
		json_member_integer(json, "call", json_tables_call(json->tables, site));
		return;
	}
	json_member_string(json, "source", source_name(site->source));
	json_member_string(json, "allocator", site->allocator);
	json_member_string(json, "function", site->function);
}

/* The same in each report. Not a number: many readers have no integers of 64 bits. */
static void json_id(struct json_writer *json, uint64_t id)
{
	char text[17];

	snprintf(text, sizeof(text), "%016" PRIx64, id);
	json_member_string(json, "id", text);
}

/* How many processes are added up in a row, whose `pid` is that of one. */
static void json_processes(struct json_writer *json, const struct report_site *site)
{
	json_member_integer(json, "processes", site->process_count);
	json_member_integer(json, "of_processes", site->of_processes);
}

/* Of a row by line: how much is added up, and what allocated for it. */
static void json_line(struct json_writer *json, const struct report_site *site)
{
	size_t i;

	json_member_integer(json, "stacks", site->stack_count);
	json_processes(json, site);
	json_writer_key(json, "via");
	json_writer_open(json, '[');
	for (i = 0; i < site->leaf_count; i++) {
		json_writer_open(json, '{');
		json_member_integer(json, "inuse_bytes", site->leaves[i].inuse_bytes);
		json_member_integer(json, "inuse_objects", site->leaves[i].inuse_objects);
		json_writer_key(json, "frame");
		json_frame(json, &site->leaves[i].frame);
		json_writer_close(json, '}');
	}
	json_writer_close(json, ']');
}

/* In the first report there is none. */
static void json_growth(struct json_writer *json, const struct growth *growth)
{
	json_writer_key(json, "growth_bytes");
	if (growth->known)
		json_writer_signed(json, growth->bytes);
	else
		json_writer_null(json);
}

/* Only if realloc has done something with blocks in use. */
static void json_realloc(struct json_writer *json, const struct site_stats *stats)
{
	if (!stats->grown_objects && !stats->added_objects && !stats->unknown_objects)
		return;
	json_writer_key(json, "realloc");
	json_writer_open(json, '{');
	json_member_integer(json, "grown_objects", stats->grown_objects);
	json_member_integer(json, "grown_times", stats->grown_times);
	json_member_integer(json, "added_objects", stats->added_objects);
	json_member_integer(json, "unknown_bytes", stats->unknown_bytes);
	json_member_integer(json, "unknown_objects", stats->unknown_objects);
	json_writer_close(json, '}');
}

/* Of a runtime's heap: what has filled it. */
static void json_classes(struct json_writer *json, const struct grown_classes *classes)
{
	size_t i;

	json_writer_key(json, "grown_classes");
	if (!classes) {
		json_writer_null(json);
		return;
	}
	json_writer_open(json, '[');
	for (i = 0; i < classes->count; i++) {
		json_writer_open(json, '{');
		json_member_string(json, "name", classes->items[i].name);
		json_member_integer(json, "objects", classes->items[i].objects);
		json_writer_close(json, '}');
	}
	json_writer_close(json, ']');
}

static void json_site(struct json_writer *json, const struct report *report,
		      const struct report_site *site)
{
	const struct report_options *options = &report->options;
	double born[LIFE_CLASSES];

	json_writer_open(json, '{');
	json_member_integer(json, "rank", site->rank);
	json_id(json, site->origin->id);
	json_member_integer(json, "pid", (uint64_t)site->pid);
	json_call(json, site);
	json_member_bool(json, "ended", site->ended);
	json_stats(json, &site->stats);
	json_sampled(json, site->sampled);
	if (site->sampled)
		json_member_integer(json, "samples", site->stats.samples);
	json_growth(json, &site->growth);
	if (options->estimates)
		json_budget_site(json, options->estimates, site);
	json_member_seconds(json, "oldest_s", site->stats.oldest_ns, site_stats_hold(&site->stats));
	json_member_seconds(json, "mean_age_s", site_stats_mean_age_ns(&site->stats),
			    site_stats_inuse_objects(&site->stats));
	json_births(json, site->origin, report->start_ns);
	if (options->light)
		json_light_site(json, &site->stats);
	else if (!options->estimates)
		json_lives(json, &site->stats, site->sampled,
			   report_verdict_born(report, site, born) ? born : NULL);
	if (report_verdict_is_known(options))
		json_verdict(json, &site->verdict);
	json_peak_site(json, report, site);
	json_member_string(json, "region", region_name(site->region));
	if (site->region == REGION_RUBY_HEAP || site->region == REGION_PYTHON_ARENA)
		json_classes(json, site->grown_classes);
	json_member_known(json, "resident_bytes", site->stats.resident_bytes, site->resident_known);
	json_member_known(json, "gcs", site->stats.gcs,
			  site->stats.gcs_known && site_stats_hold(&site->stats));
	if (site->container)
		json_member_string(json, "container", site->container);
	json_realloc(json, &site->stats);
	if (site->hint)
		json_member_string(json, "hint", site->hint);
	json_stack(json, site);
	if (site->by_line)
		json_line(json, site);
	else if (site->process_count > 1)
		json_processes(json, site);
	json_writer_close(json, '}');
}

/* Only if --only has left out anything. */
static void json_left_out(struct json_writer *json, const struct report *report)
{
	if (!report->left_out.alloc_objects)
		return;
	json_writer_key(json, "left_out");
	json_writer_open(json, '{');
	json_stats(json, &report->left_out);
	json_member_integer(json, "sites", report->sites_left_out);
	json_writer_close(json, '}');
}

static void json_sites(struct json_writer *json, const struct report *report,
		       const struct render_options *options)
{
	struct report_site site;
	size_t i;

	json_writer_key(json, "sites");
	json_writer_open(json, '[');
	for (i = 0; i < report->site_count && render_drain(options, json->out); i++) {
		site = report_open_site(report, i);
		json_site(json, report, &site);
		report_close_site(&site);
	}
	json_writer_close(json, ']');
}

void render_json(const struct report *report, const struct render_options *options,
		 struct buffer *out)
{
	const bool compact = options->schema == 2;
	struct json_writer json = { .out = out, .tables = compact ? json_tables_new() : NULL };

	json_writer_open(&json, '{');
	json_member_integer(&json, "schema", compact ? 2 : 1);
	json_member_string(&json, "tool", "tracer");
	json_member_string(&json, "command", report->options.settled ? "watch" : "trace");
	json_member_string(&json, "version", TRACER_VERSION);
	json_member_time(&json, "time", report->wall_time);
	json_member_seconds(&json, "duration_s", report->duration_ns, true);
	json_targets(&json, report);
	json_writer_key(&json, "totals");
	json_writer_open(&json, '{');
	json_stats(&json, &report->totals);
	json_totals_sampled(&json, report);
	json_writer_close(&json, '}');
	json_writer_key(&json, "ended");
	json_writer_open(&json, '{');
	json_stats(&json, &report->ended);
	json_sampled(&json, report->ended_sampled);
	json_writer_close(&json, '}');
	json_left_out(&json, report);
	json_loss(&json, report);
	json_price(&json, &report->price);
	if (report->options.estimates)
		json_budget(&json, report->options.estimates);
	if (report->options.light)
		json_light(&json, report->options.light);
	if (report_verdict_is_known(&report->options))
		json_verdict(&json, &report->verdict);
	if (report->options.settled)
		json_watch(&json, report);
	json_peak(&json, report);
	json_sites(&json, report, options);
	if (compact)
		json_tables_write(json.tables, &json, options);
	json_tables_free(json.tables);
	json_writer_close(&json, '}');
	buffer_append_string(out, "\n");
}
