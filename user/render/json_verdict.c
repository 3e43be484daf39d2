/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See json_verdict.h. What only verdicts of exact figures have is null in those of --budget. */
#include "render/json_verdict.h"

#include <math.h>

#include "verdict/verdict_clause.h"
#include "render/json_budget.h"
#include "render/json_member.h"

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

/* What the word was found by, beyond the growth. */
static void verdict_evidence(struct json_writer *json, const struct verdict *verdict)
{
	const bool fills = verdict->word == VERDICT_FILLING && verdict->level_ns;

	json_budget_number(json, "growth_before_bytes_per_s", verdict->growth_before);
	json_budget_number(json, "level_bytes", fills ? verdict->level_bytes : NAN);
	json_member_seconds(json, "level_s", verdict->level_ns, fills);
	json_member_bool(json, "nothing_freed", verdict->kept);
	json_member_integer(json, "births", verdict->births);
	json_writer_key(json, "gained_objects");
	json_writer_signed(json, verdict->gained);
	json_member_seconds(json, "others_s", verdict->others_ns, verdict->others_ns);
	json_member_integer(json, "survivors", verdict->survivors);
	verdict_share(json, "early_share", verdict->early_share);
	json_member_seconds(json, "time_s", verdict->time_ns, verdict->time_ns);
}

void json_verdict(struct json_writer *json, const struct verdict *verdict)
{
	struct buffer text = { 0 };

	verdict_clause_append(verdict, &text);
	json_writer_key(json, "verdict");
	json_writer_open(json, '{');
	json_member_string(json, "word", verdict_name(verdict->word));
	json_budget_limits(json, "never_freed", &verdict->never_freed, verdict->never_freed_known);
	json_budget_bytes(json, "growth_bytes_per_s", &verdict->growth);
	verdict_share(json, "r2", verdict->r2);
	json_member_seconds(json, "wait_s", verdict->wait_ns, verdict->wait_ns);
	if (verdict->is_watched)
		json_member_bool(json, "sure", verdict->is_sure);
	if (!verdict->estimated && verdict->word != VERDICT_NONE)
		verdict_evidence(json, verdict);
	json_member_string(json, "text", text.data ? text.data : "");
	json_writer_close(json, '}');
	buffer_free(&text);
}
