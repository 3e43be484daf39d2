/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See json_light.h. */
#include "render/json_light.h"

static void light_number(struct json_writer *json, const char *key, uint64_t number, bool known)
{
	json_writer_key(json, key);
	if (known)
		json_writer_integer(json, number);
	else
		json_writer_null(json);
}

static void light_text(struct json_writer *json, const char *key, const char *text)
{
	json_writer_key(json, key);
	json_writer_string(json, text);
}

static void light_heap(struct json_writer *json, const struct light_heap *heap)
{
	bool known = !heap->reason;

	json_writer_open(json, '{');
	light_number(json, "pid", (uint64_t)heap->pid, true);
	light_text(json, "allocator", heap->allocator);
	light_text(json, "reason", heap->reason);
	light_number(json, "live_blocks", heap->live_blocks, known);
	light_number(json, "live_bytes", heap->live_bytes, known);
	light_number(json, "unknown_bytes", heap->unknown_bytes, known);
	light_number(json, "unrecorded_blocks", heap->other_blocks, known);
	light_number(json, "unrecorded_bytes", heap->other_bytes, known);
	light_number(json, "undecided_blocks", heap->undecided_blocks, true);
	light_number(json, "undecided_bytes", heap->undecided_bytes, true);
	json_writer_close(json, '}');
}

void json_light(struct json_writer *json, const struct light_report *light)
{
	size_t i;

	json_writer_key(json, "light");
	json_writer_open(json, '{');
	light_text(json, "probes", light->inside ? "inside" : "returns");
	json_writer_key(json, "look_s");
	json_writer_seconds(json, light->look_ns);
	json_writer_key(json, "heaps");
	json_writer_open(json, '[');
	for (i = 0; i < light->count; i++)
		light_heap(json, &light->heaps[i]);
	json_writer_close(json, ']');
	json_writer_close(json, '}');
}

void json_light_site(struct json_writer *json, const struct site_stats *stats)
{
	light_number(json, "undecided_bytes", stats->undecided_bytes, true);
	light_number(json, "undecided_objects", stats->undecided_objects, true);
	json_writer_key(json, "temporary_objects");
	json_writer_null(json);
	json_writer_key(json, "lifespan");
	json_writer_null(json);
}
