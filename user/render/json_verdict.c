/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See json_verdict.h. What only verdicts of exact figures have is null in those of --budget. */
#include "render/json_verdict.h"

#include <math.h>

#include "analyze/verdict_clause.h"
#include "render/json_budget.h"

static void verdict_integer(struct json_writer *json, const char *key, uint64_t number)
{
	json_writer_key(json, key);
	json_writer_integer(json, number);
}

static void verdict_seconds(struct json_writer *json, const char *key, uint64_t ns)
{
	json_writer_key(json, key);
	if (ns)
		json_writer_seconds(json, ns);
	else
		json_writer_null(json);
}

/* Of a share or of R2, which below 0 are not known. */
static void verdict_share(struct json_writer *json, const char *key, double share)
{
	if (share >= 0) {
		json_budget_share(json, key, share);
		return;
	}
	json_writer_key(json, key);
	json_writer_null(json);
}

static void verdict_never_freed(struct json_writer *json, const struct verdict *verdict)
{
	json_writer_key(json, "never_freed");
	if (!verdict->never_freed_known) {
		json_writer_null(json);
		return;
	}
	json_writer_open(json, '{');
	json_budget_share(json, "low", verdict->never_freed.low);
	json_budget_share(json, "mid", verdict->never_freed.value);
	json_budget_share(json, "high", verdict->never_freed.high);
	json_writer_close(json, '}');
}

/* What the word was found by, beyond the growth. */
static void verdict_evidence(struct json_writer *json, const struct verdict *verdict)
{
	const bool fills = verdict->word == VERDICT_FILLING && verdict->level_ns;

	json_budget_number(json, "growth_before_bytes_per_s", verdict->growth_before);
	json_budget_number(json, "level_bytes", fills ? verdict->level_bytes : NAN);
	verdict_seconds(json, "level_s", fills ? verdict->level_ns : 0);
	json_writer_key(json, "nothing_freed");
	json_writer_bool(json, verdict->kept);
	verdict_integer(json, "births", verdict->births);
	json_writer_key(json, "gained_objects");
	json_writer_signed(json, verdict->gained);
	verdict_seconds(json, "others_s", verdict->others_ns);
	verdict_integer(json, "survivors", verdict->survivors);
	verdict_share(json, "early_share", verdict->early_share);
	verdict_seconds(json, "time_s", verdict->time_ns);
}

void json_verdict(struct json_writer *json, const struct verdict *verdict)
{
	struct buffer text = { 0 };

	verdict_clause_append(verdict, &text);
	json_writer_key(json, "verdict");
	json_writer_open(json, '{');
	json_writer_key(json, "word");
	json_writer_string(json, verdict_name(verdict->word));
	verdict_never_freed(json, verdict);
	json_budget_bytes(json, "growth_bytes_per_s", &verdict->growth);
	verdict_share(json, "r2", verdict->r2);
	verdict_seconds(json, "wait_s", verdict->wait_ns);
	if (!verdict->estimated && verdict->word != VERDICT_NONE)
		verdict_evidence(json, verdict);
	json_writer_key(json, "text");
	json_writer_string(json, text.data ? text.data : "");
	json_writer_close(json, '}');
	buffer_free(&text);
}
