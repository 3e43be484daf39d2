/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A difference in JSON: see difference.h. What is unknown is null. */
#include <math.h>

#include "model/source.h"
#include "render/difference.h"
#include "render/formats.h"
#include "render/json_budget.h"
#include "render/json_frame.h"
#include "render/json_member.h"
#include "render/json_writer.h"

static void json_difference_figures(struct json_writer *json, const struct profile_figures *figures)
{
	json_member_integer(json, "inuse_bytes", profile_inuse_bytes(figures));
	json_member_integer(json, "inuse_objects", profile_inuse_objects(figures));
}

static void json_difference_moment(struct json_writer *json, const struct profile *profile)
{
	json_writer_open(json, '{');
	json_member_string(json, "name", profile->name);
	json_member_time(json, "time", profile->wall_time);
	json_member_seconds(json, "duration_s", profile->duration_ns, true);
	json_member_bool(json, "complete", !profile->is_part);
	json_difference_figures(json, &profile->totals);
	json_writer_close(json, '}');
}

static void json_difference_moments(struct json_writer *json, const struct difference *difference)
{
	size_t i;

	json_writer_key(json, "moments");
	json_writer_open(json, '[');
	for (i = 0; i < difference->profile_count; i++)
		json_difference_moment(json, difference->profiles[i]);
	json_writer_close(json, ']');
}

static void json_difference_words(struct json_writer *json, const struct difference *difference)
{
	int word;

	json_writer_key(json, "changes");
	json_writer_open(json, '{');
	for (word = 0; word < DIFFERENCE_WORDS; word++)
		json_member_integer(json, difference_word((enum difference_word)word),
				    difference->words[word]);
	json_writer_close(json, '}');
}

/* Where a site is not listed, it holds nothing; what it has allocated and freed again is not known. */
static void json_difference_calls(struct json_writer *json, const struct profile_figures *figures,
				  bool listed)
{
	json_member_known(json, "alloc_bytes", figures->alloc_bytes, listed);
	json_member_known(json, "alloc_objects", figures->alloc_objects, listed);
	json_member_known(json, "free_bytes", figures->free_bytes, listed);
	json_member_known(json, "free_objects", figures->free_objects, listed);
}

static void json_difference_held(struct json_writer *json, const struct difference *difference,
				 const struct difference_site *site)
{
	size_t i;

	json_writer_key(json, "held");
	json_writer_open(json, '[');
	for (i = 0; i < difference->profile_count; i++) {
		if (!site->known[i]) {
			json_writer_null(json);
			continue;
		}
		json_writer_open(json, '{');
		json_difference_figures(json, &site->figures[i]);
		json_difference_calls(json, &site->figures[i], site->listed[i]);
		json_writer_close(json, '}');
	}
	json_writer_close(json, ']');
}

static void json_difference_frames(struct json_writer *json, const struct profile_row *row)
{
	size_t i;

	json_writer_key(json, "frames");
	json_writer_open(json, '[');
	for (i = 0; i < row->frame_count; i++)
		json_frame_write(json, row->frames[i]);
	json_writer_close(json, ']');
}

/* What was counted has equal limits. */
static void json_difference_range(struct json_writer *json, const char *key, uint64_t low,
				  uint64_t high, bool known)
{
	json_writer_key(json, key);
	if (!known) {
		json_writer_null(json);
		return;
	}
	json_writer_open(json, '{');
	json_member_integer(json, "low", low);
	json_member_known(json, "mid", low, low == high);
	json_member_integer(json, "high", high);
	json_writer_close(json, '}');
}

static void json_difference_retained(struct json_writer *json, const struct retained *retained)
{
	json_difference_range(json, "retained_bytes", retained->low_bytes, retained->high_bytes,
			      retained->known);
	json_difference_range(json, "retained_objects", retained->low_objects,
			      retained->high_objects, retained->known);
}

/* What is estimated has limits; blocks have none, so they are not known. */
static void json_difference_growth(struct json_writer *json, int64_t bytes, int64_t objects,
				   bool known, const struct estimate *since)
{
	json_member_signed(json, "growth_bytes", bytes, known);
	json_member_signed(json, "growth_objects", objects, known && !since);
	if (!since)
		return;
	if (known)
		json_budget_bytes(json, "grown_since_bytes", since);
	else
		json_budget_number(json, "grown_since_bytes", NAN);
}

static void json_difference_site(struct json_writer *json, const struct difference *difference,
				 size_t index)
{
	const struct difference_site *site = &difference->sites[index];
	const struct profile_row *row = site->row;
	bool known = site->word != DIFFERENCE_UNKNOWN;

	json_writer_open(json, '{');
	json_member_integer(json, "rank", index + 1);
	json_member_string(json, "change", difference_word(site->word));
	json_difference_growth(json, site->growth_bytes, site->growth_objects, known,
			       difference->windows ? &site->since : NULL);
	if (difference->profile_count == 3)
		json_difference_retained(json, &site->retained);
	json_difference_held(json, difference, site);
	json_member_string(json, "program", row->program);
	json_member_string(json, "source", source_name(row->source));
	json_member_string(json, "allocator", row->allocator);
	json_member_string(json, "function", row->function);
	json_member_string(json, "region", region_name(row->region));
	json_member_bool(json, "sampled", row->sampled);
	json_member_bool(json, "rebuilt", site->is_rebuilt);
	json_difference_frames(json, row);
	json_writer_close(json, '}');
}

void render_difference_json(const struct difference *difference,
			    const struct render_difference_options *options, struct buffer *out)
{
	const size_t top = options->top ? options->top : difference->site_count;
	struct json_writer json = { .out = out };
	size_t i;

	json_writer_open(&json, '{');
	json_member_integer(&json, "schema", 1);
	json_member_string(&json, "tool", "tracer");
	json_member_string(&json, "command", "diff");
	json_member_string(&json, "version", TRACER_VERSION);
	json_difference_moments(&json, difference);
	json_difference_growth(&json, difference->growth_bytes, difference->growth_objects, true,
			       difference->windows ? &difference->since : NULL);
	if (difference->profile_count == 3) {
		json_member_bool(&json, "births_known", difference->births_known);
		json_difference_retained(&json, &difference->retained);
	}
	json_difference_words(&json, difference);
	json_writer_key(&json, "sites");
	json_writer_open(&json, '[');
	for (i = 0; i < difference->site_count && i < top && render_drain(&options->base, out); i++)
		json_difference_site(&json, difference, i);
	json_writer_close(&json, ']');
	json_writer_close(&json, '}');
	buffer_append_string(out, "\n");
}
