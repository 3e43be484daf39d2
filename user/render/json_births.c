/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See json_births.h. */
#include "render/json_births.h"

#include "render/json_member.h"

/* What was born before the first mark has no time. */
static void json_births_one(struct json_writer *json, const struct generation *born,
			    uint64_t start_ns)
{
	if (!born->objects && !born->bytes)
		return;
	json_writer_open(json, '{');
	json_writer_key(json, "since_s");
	if (born->since_ns > start_ns)
		json_writer_seconds(json, born->since_ns - start_ns);
	else
		json_writer_null(json);
	json_member_integer(json, "bytes", born->bytes);
	json_member_integer(json, "objects", born->objects);
	json_writer_close(json, '}');
}

void json_births(struct json_writer *json, const struct snapshot_site *row, uint64_t start_ns)
{
	struct generations births = snapshot_births(row);
	size_t i;

	if (births.count) {
		json_writer_key(json, "births");
		json_writer_open(json, '[');
		for (i = 0; i < births.count; i++)
			json_births_one(json, &births.items[i], start_ns);
		json_writer_close(json, ']');
	}
	generations_free(&births);
}
