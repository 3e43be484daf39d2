/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See json_light.h. */
#include "render/json_light.h"

#include "render/json_member.h"

static void light_heap(struct json_writer *json, const struct light_heap *heap)
{
	bool known = !heap->reason;

	json_writer_open(json, '{');
	json_member_known(json, "pid", (uint64_t)heap->pid, true);
	json_member_string(json, "allocator", heap->allocator);
	json_member_string(json, "reason", heap->reason);
	json_member_known(json, "live_blocks", heap->live_blocks, known);
	json_member_known(json, "live_bytes", heap->live_bytes, known);
	json_member_known(json, "unknown_bytes", heap->unknown_bytes, known);
	json_member_known(json, "unrecorded_blocks", heap->other_blocks, known);
	json_member_known(json, "unrecorded_bytes", heap->other_bytes, known);
	json_member_known(json, "undecided_blocks", heap->undecided_blocks, true);
	json_member_known(json, "undecided_bytes", heap->undecided_bytes, true);
	json_writer_close(json, '}');
}

void json_light(struct json_writer *json, const struct light_report *light)
{
	size_t i;

	json_writer_key(json, "light");
	json_writer_open(json, '{');
	json_member_string(json, "probes", light->inside ? "inside" : "returns");
	json_member_seconds(json, "look_s", light->look_ns, true);
	json_writer_key(json, "heaps");
	json_writer_open(json, '[');
	for (i = 0; i < light->count; i++)
		light_heap(json, &light->heaps[i]);
	json_writer_close(json, ']');
	json_writer_close(json, '}');
}

void json_light_site(struct json_writer *json, const struct site_stats *stats)
{
	json_member_known(json, "undecided_bytes", stats->undecided_bytes, true);
	json_member_known(json, "undecided_objects", stats->undecided_objects, true);
	json_writer_key(json, "temporary_objects");
	json_writer_null(json);
	json_writer_key(json, "lifespan");
	json_writer_null(json);
}
