/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See json_budget.h. Each estimate is an object of three: "value", "low" and "high", of which a limit that is not known is null. */
#include "render/json_budget.h"

#include "render/json_member.h"

#include <math.h>

/* Thousandths of a percent. */
static void json_budget_percent(struct json_writer *json, const char *key, uint64_t share)
{
	json_member_seconds(json, key, share * 1000000, true);
}

void json_budget_number(struct json_writer *json, const char *key, double number)
{
	json_writer_key(json, key);
	if (isfinite(number) && fabs(number) < 9e18)
		json_writer_signed(json, llround(number));
	else
		json_writer_null(json);
}

void json_budget_bytes(struct json_writer *json, const char *key, const struct estimate *estimate)
{
	json_writer_key(json, key);
	json_writer_open(json, '{');
	json_budget_number(json, "value", estimate->value);
	json_budget_number(json, "mid", estimate->value);
	json_budget_number(json, "low", estimate->low);
	json_budget_number(json, "high", estimate->high);
	json_writer_close(json, '}');
}

void json_budget_share(struct json_writer *json, const char *key, double share)
{
	share = share > 0 ? share < 1 ? share : 1 : 0;
	json_member_seconds(json, key, (uint64_t)(share * 10000 + 0.5) * 100000, true);
}

static void json_budget_shares(struct json_writer *json, const struct estimate *estimate)
{
	json_budget_share(json, "value", estimate->value);
	json_budget_share(json, "low", estimate->low);
	json_budget_share(json, "high", estimate->high);
}

void json_budget_tail(struct json_writer *json, const struct survival_tail *tail)
{
	static const char *const shapes[] = { [SURVIVAL_UNKNOWN] = "unknown",
					      [SURVIVAL_FLAT] = "flat",
					      [SURVIVAL_FALLING] = "falling" };

	json_writer_key(json, "tail");
	json_writer_open(json, '{');
	json_member_string(json, "shape", shapes[tail->shape]);
	json_budget_shares(json, &tail->share);
	json_member_seconds(json, "from_age_s", tail->from_ns, true);
	json_member_seconds(json, "until_age_s", tail->until_ns, true);
	json_writer_close(json, '}');
}

void json_budget_limits(struct json_writer *json, const char *key, const struct estimate *share,
			bool known)
{
	json_writer_key(json, key);
	if (!known) {
		json_writer_null(json);
		return;
	}
	json_writer_open(json, '{');
	json_budget_share(json, "low", share->low);
	json_budget_share(json, "mid", share->value);
	json_budget_share(json, "high", share->high);
	json_writer_close(json, '}');
}

static void json_budget_verdict(struct json_writer *json, enum budget_verdict verdict)
{
	static const char *const words[] = {
		[BUDGET_UNKNOWN] = "unknown",
		[BUDGET_LEAK] = "leak",
		[BUDGET_GROWING] = "growing",
		[BUDGET_CACHE] = "cache",
	};

	json_member_string(json, "verdict", words[verdict]);
}

void json_budget_survival(struct json_writer *json, const struct survival *survival)
{
	size_t i;

	json_writer_key(json, "survival");
	json_writer_open(json, '[');
	for (i = 0; i < survival->count; i++) {
		json_writer_open(json, '{');
		json_member_seconds(json, "age_s", survival->points[i].age_ns, true);
		json_budget_shares(json, &survival->points[i].share);
		json_budget_number(json, "at_risk", survival->points[i].at_risk);
		json_writer_close(json, '}');
	}
	json_writer_close(json, ']');
}

/* How old the blocks are that are in use now. */
static void json_budget_ages(struct json_writer *json, const struct budget_life *life)
{
	int age;

	json_writer_key(json, "ages");
	json_writer_open(json, '[');
	for (age = 0; age < BUDGET_AGES; age++) {
		const struct budget_age *row = &life->ages[age];

		if (!row->unchanged.seen && !row->written.seen)
			continue;
		json_writer_open(json, '{');
		json_member_seconds(json, "from_s", budget_age_least_ns((enum budget_ages)age),
				    true);
		json_member_integer(json, "unchanged", row->unchanged.seen);
		json_member_integer(json, "written", row->written.seen);
		json_writer_close(json, '}');
	}
	json_writer_close(json, ']');
}

void json_budget_site(struct json_writer *json, const struct budget_estimates *estimates,
		      const struct report_site *site)
{
	const struct budget_estimate *estimate = &site->estimate;
	struct survival survival = { 0 };
	struct budget_life life;

	json_writer_key(json, "estimate");
	if (!estimate->known) {
		json_writer_null(json);
		return;
	}
	budget_estimate_survival(estimates, site->origin, &survival);
	budget_estimate_life(estimates, site->origin, &life);
	json_writer_open(json, '{');
	json_budget_bytes(json, "growth_bytes_per_s", &estimate->rate);
	json_budget_bytes(json, "grown_bytes", &estimate->bytes);
	if (estimates->since_known && estimate->since_known)
		json_budget_bytes(json, "grown_since_bytes", &estimate->since);
	else if (estimates->since_known)
		json_budget_number(json, "grown_since_bytes", NAN);
	json_budget_bytes(json, "written_bytes_per_s", &estimate->written_rate);
	json_member_bool(json, "lower_bound", estimate->lower_bound);
	json_member_integer(json, "recorded", estimate->allocated);
	json_member_integer(json, "followed", estimate->followed);
	json_member_integer(json, "unchanged", estimate->unchanged);
	json_member_integer(json, "written", estimate->written);
	json_member_integer(json, "freed", estimate->freed);
	json_member_integer(json, "lost", estimate->lost);
	json_member_seconds(json, "mean_age_s", estimate->mean_age_ns, true);
	json_budget_ages(json, &life);
	json_member_integer(json, "seen_blocks", estimate->followed);
	json_member_integer(json, "survivors", estimate->unchanged + estimate->written);
	json_budget_verdict(json, estimate->verdict);
	json_budget_limits(json, "never_freed", &estimate->tail.share,
			   budget_estimate_stays(estimate));
	json_budget_tail(json, &estimate->tail);
	json_budget_survival(json, &survival);
	json_writer_close(json, '}');
	survival_free(&survival);
}

static void json_budget_heaps(struct json_writer *json, const struct budget_report *report)
{
	size_t i;

	json_writer_key(json, "heaps");
	json_writer_open(json, '[');
	for (i = 0; i < report->heap_count; i++) {
		json_writer_open(json, '{');
		json_member_string(json, "allocator", report->heaps[i].allocator);
		json_member_integer(json, "censuses", report->heaps[i].census_count);
		json_member_string(json, "reason", report->heaps[i].reason);
		json_writer_close(json, '}');
	}
	json_writer_close(json, ']');
}

/* How many were looked at, and how long ago. */
static void json_budget_processes(struct json_writer *json, const struct budget_report *report)
{
	json_writer_key(json, "processes");
	json_writer_open(json, '{');
	json_member_integer(json, "running", report->processes);
	json_member_integer(json, "looked_at_once", report->pass_most);
	json_member_integer(json, "not_looked_at", report->processes_unseen);
	json_member_seconds(json, "oldest_look_s", report->oldest_look_ns, true);
	json_writer_close(json, '}');
}

void json_budget(struct json_writer *json, const struct budget_estimates *estimates)
{
	const struct budget_report *report = estimates->report;

	json_writer_key(json, "budget");
	json_writer_open(json, '{');
	json_budget_percent(json, "percent", report->budget);
	json_budget_percent(json, "cost_percent", budget_cost_share(report));
	json_budget_percent(json, "spent_percent", budget_cost_share(report));
	json_member_bool(json, "cost_assumed", report->cost_unknown);
	json_member_integer(json, "windows", report->window_count);
	json_member_seconds(json, "windows_s", report->traced_ns, true);
	json_member_integer(json, "windows_lost", report->lost_count);
	json_member_integer(json, "windows_over", report->over_count);
	json_member_seconds(json, "window_longest_s", report->longest_ns, true);
	json_member_integer(json, "hits", report->hits);
	json_member_integer(json, "edge_hits", report->edge_hits);
	json_member_integer(json, "recorded", report->recorded);
	json_member_integer(json, "weight", report->weight);
	json_member_bool(json, "counted", estimates->counted);
	json_budget_bytes(json, "growth_bytes_per_s", &estimates->growth);
	json_budget_bytes(json, "written_bytes_per_s", &estimates->written);
	json_budget_bytes(json, "unattributed_bytes_per_s", &estimates->unknown);
	json_member_seconds(json, "old_s", estimates->old_ns, true);
	json_budget_processes(json, report);
	json_budget_heaps(json, report);
	json_writer_close(json, '}');
}
