/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lost blocks as JSON: one object on one line. Keys are a contract with other programs: none is renamed. */
#include <stdio.h>
#include <string.h>

#include "render/json_frame.h"
#include "render/json_member.h"
#include "render/json_writer.h"
#include "render/leaks.h"

static void leaks_json_sum(struct json_writer *json, const char *key, const struct leak_sum *sum)
{
	json_writer_key(json, key);
	json_writer_open(json, '{');
	json_member_integer(json, "blocks", sum->blocks);
	json_member_integer(json, "bytes", sum->bytes);
	json_writer_close(json, '}');
}

static void leaks_json_sums(struct json_writer *json, const struct leak_report *report)
{
	size_t i;

	json_writer_key(json, "lost");
	json_writer_open(json, '{');
	for (i = 0; i < LEAK_VERDICTS; i++)
		leaks_json_sum(json, leak_verdict_name((enum leak_verdict)i), &report->sums[i]);
	json_writer_close(json, '}');
	leaks_json_sum(json, "suppressed", &report->suppressed);
	leaks_json_sum(json, "left_out", &report->left_out);
	json_writer_key(json, "roots");
	json_writer_open(json, '{');
	for (i = 0; i < LEAK_ROOTS_LIVE; i++)
		leaks_json_sum(json, leak_root_name((enum leak_root)i), &report->roots[i]);
	json_writer_close(json, '}');
	json_writer_key(json, "heuristics");
	json_writer_open(json, '{');
	for (i = 0; i < LEAK_HEURISTICS; i++)
		leaks_json_sum(json, leak_heuristic_name((enum leak_heuristic)i),
			       &report->heuristics[i]);
	json_writer_close(json, '}');
}

static void leaks_json_evidence(struct json_writer *json, const struct leak_report *report)
{
	char text[32];

	snprintf(text, sizeof(text), "%u pass%s", report->passes, report->passes == 1 ? "" : "es");
	json_member_string(json, "evidence",
			   report->is_paused  ? "pause"
			   : report->is_quiet ? "quiet"
					      : text);
	json_member_seconds(json, "pause_s", report->pause_ns, report->pause_ns);
	json_member_bool(json, "certain", leak_report_is_proof(report));
	json_member_bool(json, "at_end", report->is_ending);
	json_member_integer(json, "passes", report->passes);
	json_member_bool(json, "has_registers", report->has_registers);
	json_member_integer(json, "swapped_bytes", report->swapped_bytes);
	json_member_integer(json, "unread_bytes", report->unread_bytes);
	json_member_bool(json, "heap_unread", report->heap_unread);
	json_member_integer(json, "heap_unknown_bytes", report->heap_unknown_bytes);
	json_member_bool(json, "kernel_unread", report->kernel_unread);
	json_member_bool(json, "pages_unknown", report->pages_unknown);
	json_member_bool(json, "restless", report->is_restless);
	json_member_bool(json, "frees_unknown", report->frees_unknown);
	json_member_integer(json, "present_bytes", report->present_bytes);
	json_member_integer(json, "read_bytes", report->read_bytes);
}

/* Null: nobody has seen who allocated the blocks. */
static void leaks_json_frames(struct json_writer *json, const struct leak_group *group)
{
	size_t i;

	json_writer_key(json, "frames");
	if (!group->site) {
		json_writer_null(json);
		return;
	}
	json_writer_open(json, '[');
	for (i = 0; i < group->frame_count; i++)
		json_frame_write(json, &group->frames[i]);
	json_writer_close(json, ']');
}

/* Null: there was no look before. */
static void leaks_json_before(struct json_writer *json, const struct leak_report *report,
			      const struct leak_sum sums[LEAK_BEFORES], bool has_time)
{
	size_t i;

	json_writer_key(json, "before");
	if (!report->has_before) {
		json_writer_null(json);
		return;
	}
	json_writer_open(json, '{');
	if (has_time)
		json_member_time(json, "time", report->before_time);
	for (i = 0; i < LEAK_BEFORES; i++)
		leaks_json_sum(json, leak_before_name((enum leak_before)i), &sums[i]);
	json_writer_close(json, '}');
}

static void leaks_json_group(struct json_writer *json, const struct leak_report *report,
			     const struct leak_group *group)
{
	char address[24];

	snprintf(address, sizeof(address), "0x%llx", (unsigned long long)group->address);
	json_writer_open(json, '{');
	json_member_string(json, "kind", leak_verdict_name(group->verdict));
	json_member_integer(json, "blocks", group->own.blocks);
	json_member_integer(json, "bytes", group->own.bytes);
	json_member_integer(json, "indirect_blocks", group->indirect.blocks);
	json_member_integer(json, "indirect_bytes", group->indirect.bytes);
	json_member_known(json, "size", group->size, group->size);
	json_member_string(json, "what", *group->kind ? group->kind : NULL);
	json_member_string(json, "name", *group->name ? group->name : NULL);
	json_member_string(json, "address", address);
	json_member_string(json, "note", *group->note ? group->note : NULL);
	json_member_string(json, "function", group->function);
	leaks_json_before(json, report, group->before, false);
	leaks_json_frames(json, group);
	json_writer_close(json, '}');
}

static void leaks_json_remarks(struct json_writer *json, const struct buffer *lines)
{
	struct buffer line = { 0 };
	const char *at = lines->data, *end;

	json_writer_key(json, "remarks");
	json_writer_open(json, '[');
	for (; at && *at; at = *end ? end + 1 : end) {
		end = at + strcspn(at, "\n");
		buffer_clear(&line);
		buffer_append(&line, at, (size_t)(end - at));
		json_writer_string(json, line.data);
	}
	json_writer_close(json, ']');
	buffer_free(&line);
}

void render_leaks_json(const struct leak_report *report, const struct render_leaks_options *options,
		       struct buffer *out)
{
	struct json_writer json = { .out = out };
	struct leak_sum before[LEAK_BEFORES];
	size_t i;

	(void)options;
	json_writer_open(&json, '{');
	json_member_integer(&json, "schema", 1);
	json_member_string(&json, "tool", "tracer");
	json_member_string(&json, "version", TRACER_VERSION);
	json_member_string(&json, "command", "leaks");
	json_member_time(&json, "time", report->wall_time);
	json_member_seconds(&json, "duration_s", report->duration_ns, true);
	json_member_seconds(&json, "traced_s", report->traced_ns, report->is_traced);
	json_writer_key(&json, "targets");
	json_writer_open(&json, '[');
	json_writer_open(&json, '{');
	json_member_integer(&json, "pid", (uint64_t)report->pid);
	json_member_string(&json, "comm", report->comm);
	json_writer_close(&json, '}');
	json_writer_close(&json, ']');
	leaks_json_sums(&json, report);
	leak_report_sum_before(report, before);
	leaks_json_before(&json, report, before, true);
	leaks_json_evidence(&json, report);
	json_writer_key(&json, "groups");
	json_writer_open(&json, '[');
	for (i = 0; i < report->group_count; i++)
		leaks_json_group(&json, report, &report->groups[i]);
	json_writer_close(&json, ']');
	render_leaks_who_json(report->who, &json);
	leaks_json_remarks(&json, &report->remarks);
	json_writer_close(&json, '}');
	buffer_append_string(out, "\n");
}
