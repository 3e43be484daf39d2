/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See json_lives.h. */
#include "render/json_lives.h"

#include "verdict/site_survival.h"
#include "render/json_budget.h"
#include "render/json_member.h"

/* Pairs: where a class ends, null for nowhere, and its blocks. From the first class with blocks to the last one. */
static void json_lives_histogram(struct json_writer *json, const char *key,
				 const uint64_t classes[LIFE_CLASSES])
{
	unsigned int i = 0, end = LIFE_CLASSES;

	while (end && !classes[end - 1])
		end--;
	while (i < end && !classes[i])
		i++;
	json_writer_key(json, key);
	json_writer_open(json, '[');
	for (; i < end; i++) {
		json_writer_open(json, '[');
		if (lifespans_class_end(i) == UINT64_MAX)
			json_writer_null(json);
		else
			json_writer_seconds(json, lifespans_class_end(i));
		json_writer_integer(json, classes[i]);
		json_writer_close(json, ']');
	}
	json_writer_close(json, ']');
}

static void json_lives_survival(struct json_writer *json, const struct site_stats *stats,
				const double *born)
{
	struct survival survival = { 0 };
	struct survival_tail tail;

	site_survival_estimate(stats, born, &survival);
	tail = survival_judge_tail(&survival);
	json_budget_tail(json, &tail);
	json_budget_survival(json, &survival);
	survival_free(&survival);
}

void json_lives(struct json_writer *json, const struct site_stats *stats, bool sampled,
		const double *born)
{
	uint64_t objects = lifespans_objects(&stats->lives);

	if (!site_survival_is_known(stats) && !stats->lives.untimed)
		return;
	json_writer_key(json, "temporary_objects");
	if (sampled)
		json_writer_null(json);
	else
		json_writer_integer(json, stats->lives.temporary);
	json_writer_key(json, "lifespan");
	json_writer_open(json, '{');
	json_member_integer(json, "objects", objects);
	json_member_integer(json, "untimed_objects", stats->lives.untimed);
	json_member_seconds(json, "mean_s", lifespans_mean_ns(&stats->lives), objects);
	json_member_seconds(json, "max_s", lifespans_longest_ns(&stats->lives), objects);
	json_lives_histogram(json, "histogram", stats->lives.classes);
	json_lives_histogram(json, "ages", stats->ages);
	json_lives_survival(json, stats, born);
	json_writer_close(json, '}');
}
