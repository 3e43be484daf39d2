/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See memory_since.h. */
#include "memory/memory_since.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "recording/json_file.h"

/* In messages. */
#define WHAT "report of --since"

#define NS_PER_SECOND 1000000000ull

/* Values */

static uint64_t since_count(const json_t *object, const char *key)
{
	return json_file_number(object, key);
}

/* A text in the report's pool; NULL where there is none, or an empty one. */
static const char *since_text(struct memory_report *report, const json_t *object, const char *key)
{
	return strings_keep(&report->names, json_string_value(json_object_get(object, key)));
}

static void since_copy(const json_t *object, const char *key, char *text, size_t size)
{
	const char *value = json_string_value(json_object_get(object, key));

	if (value)
		strncpy(text, value, size - 1);
}

/* Rows */

static void since_fill_targets(struct memory_report *report, const json_t *targets)
{
	size_t i;

	for (i = 0; i < json_array_size(targets); i++) {
		const json_t *target = json_array_get(targets, i);
		struct memory_process *member = memory_report_add_member(report);

		member->pid = (pid_t)(since_count(target, "pid") & INT32_MAX);
		member->start_ticks = since_count(target, "start_ticks");
		since_copy(target, "comm", member->comm, sizeof(member->comm));
	}
}

static void since_fill_parts(struct memory_report *report, const json_t *parts)
{
	size_t i;
	int purpose;

	for (i = 0; i < json_array_size(parts); i++) {
		const json_t *part = json_array_get(parts, i);
		const char *name = json_string_value(json_object_get(part, "purpose"));

		for (purpose = 0; name && purpose < PURPOSE_COUNT; purpose++)
			if (!strcmp(name, purpose_name((enum purpose)purpose)))
				report->parts[purpose] = (struct purpose_sum){
					.rss = since_count(part, "rss_bytes"),
					.pss = since_count(part, "pss_bytes"),
					.swap = since_count(part, "swap_bytes"),
					.mapped = since_count(part, "mapped_bytes"),
					.count = since_count(part, "count"),
				};
	}
}

static void since_fill_heaps(struct memory_report *report, const json_t *heaps)
{
	size_t i;

	for (i = 0; i < json_array_size(heaps); i++) {
		const json_t *heap = json_array_get(heaps, i);
		const char *allocator = since_text(report, heap, "allocator");

		if (!allocator)
			continue;
		*memory_report_add_heap(report) = (struct heap_totals){
			.allocator = allocator,
			.live_blocks = since_count(heap, "live_blocks"),
			.live_bytes = since_count(heap, "live_bytes"),
			.free_bytes = since_count(heap, "free_bytes"),
			.live_resident = since_count(heap, "live_resident_bytes"),
		};
	}
}

static void since_fill_kinds(struct memory_report *report, const json_t *kinds)
{
	size_t i;

	for (i = 0; i < json_array_size(kinds); i++) {
		const json_t *kind = json_array_get(kinds, i);
		const char *word = since_text(report, kind, "kind");

		if (!word)
			continue;
		*memory_report_add_kind(report) = (struct memory_kind){
			.kind = word,
			.name = since_text(report, kind, "name"),
			.holder = since_text(report, kind, "holder"),
			.size = since_count(kind, "size"),
			.blocks = since_count(kind, "blocks"),
			.bytes = since_count(kind, "bytes"),
		};
	}
}

static void since_fill_classes(struct memory_report *report, struct memory_runtime *runtime,
			       const json_t *classes)
{
	size_t i;

	for (i = 0; i < json_array_size(classes); i++) {
		const json_t *class = json_array_get(classes, i);

		*memory_runtime_add_class(runtime) = (struct memory_class){
			.name = since_text(report, class, "name"),
			.live = since_count(class, "live"),
			.newborn = since_count(class, "newborn"),
			.slot_bytes = since_count(class, "slot_bytes"),
			.other_bytes = since_count(class, "other_bytes"),
			.native_bytes = since_count(class, "native_bytes"),
		};
	}
}

/* Only runtimes of which the objects were counted can be compared. */
static void since_fill_runtimes(struct memory_report *report, const json_t *runtimes)
{
	size_t i;

	for (i = 0; i < json_array_size(runtimes); i++) {
		const json_t *row = json_array_get(runtimes, i);
		const json_t *classes = json_object_get(row, "classes");
		const char *name = since_text(report, row, "runtime");
		struct memory_runtime *runtime;

		if (!name || !json_array_size(classes))
			continue;
		runtime = memory_report_add_runtime(report);
		runtime->name = name;
		runtime->blocks_unknown = json_is_false(json_object_get(row, "blocks_known"));
		since_copy(row, "version", runtime->version, sizeof(runtime->version));
		since_fill_classes(report, runtime, classes);
	}
}

/* Releases before 0.2 have no such array: they count as having seen all. */
static void since_fill_cut(struct memory_report *report, const json_t *names)
{
	unsigned int number;
	size_t i;

	for (i = 0; i < json_array_size(names); i++) {
		const char *name = json_string_value(json_array_get(names, i));

		for (number = 0; name && number < MEMORY_CUT_COUNT; number++)
			if (!strcmp(name, memory_cut_name(number)))
				report->cut |= 1u << number;
	}
}

/* The whole */

static bool since_is_report(const json_t *root)
{
	const char *command = json_string_value(json_object_get(root, "command"));

	return command && !strcmp(command, "memory") && since_count(root, "schema") == 1 &&
	       json_is_array(json_object_get(root, "parts"));
}

/* Returns false if there is no time in the report. */
static bool since_fill(struct memory_report *report, const json_t *root)
{
	if (!json_file_time(json_object_get(root, "time"), &report->wall_time))
		return false;
	since_fill_targets(report, json_object_get(root, "targets"));
	since_fill_parts(report, json_object_get(root, "parts"));
	since_fill_heaps(report, json_object_get(root, "malloc"));
	since_fill_kinds(report, json_object_get(root, "kinds"));
	since_fill_runtimes(report, json_object_get(root, "objects"));
	since_fill_cut(report, json_object_get(root, "cut_short"));
	report->pss_unknown =
		!json_is_integer(json_object_get(json_object_get(root, "process"), "pss_bytes"));
	return true;
}

int memory_since_parse(const struct buffer *text, struct memory_report *ret_report,
		       struct error *error)
{
	json_t *root = json_file_last(text, WHAT, error);
	bool is_report;

	if (!root)
		return -EINVAL;
	is_report = since_is_report(root) && since_fill(ret_report, root);
	json_decref(root);
	if (!is_report)
		return error_set(error, ERROR_USAGE, -EINVAL,
				 "the " WHAT " is none of 'tracer memory -j'");
	return 0;
}

int memory_since_read(const char *path, struct buffer *text, struct error *error)
{
	return json_file_read(path, MEMORY_SINCE_MAX, WHAT, text, error);
}

/* Comparing */

static bool since_has_process(const struct memory_report *before,
			      const struct memory_process *process)
{
	size_t i;

	for (i = 0; i < before->member_count; i++) {
		const struct memory_process *member = &before->members[i];

		if (member->pid == process->pid && !strcmp(member->comm, process->comm) &&
		    (!member->start_ticks || !process->start_ticks ||
		     member->start_ticks == process->start_ticks))
			return true;
	}
	return false;
}

static void since_remark_processes(struct memory_report *report, const struct memory_report *before)
{
	const struct memory_process *members = report->member_count ? report->members
								    : &report->process;
	size_t count = report->member_count ? report->member_count : 1, i, others = 0;

	for (i = 0; i < count; i++)
		others += !since_has_process(before, &members[i]);
	if (others && count == 1 && before->member_count == 1)
		memory_report_remark(report,
				     "The earlier report is of another process, %s (%d): what "
				     "differs may always have differed.",
				     before->members[0].comm, before->members[0].pid);
	else if (others || before->member_count != count)
		memory_report_remark(report,
				     "Of %zu processes, %zu are not among the %zu of the earlier "
				     "report.",
				     count, others, before->member_count);
}

static void since_remark_runtimes(struct memory_report *report, const struct memory_report *before)
{
	size_t i, n;

	for (i = 0; i < report->runtime_count; i++) {
		const struct memory_runtime *runtime = &report->runtimes[i];

		for (n = 0; n < before->runtime_count; n++)
			if (!strcmp(before->runtimes[n].name, runtime->name))
				break;
		if (runtime->class_count && n == before->runtime_count)
			memory_report_remark(report,
					     "The earlier report has no objects of %s (--objects): "
					     "what these have grown by is not known.",
					     runtime->name);
	}
}

int memory_since_compare(struct memory_report *report, const struct memory_report *before,
			 struct error *error)
{
	time_t seconds = (time_t)before->wall_time;
	char clock[32] = "", time_text[UNITS_TEXT_MAX];
	struct tm tm;

	if (before->wall_time > report->wall_time)
		return error_set(error, ERROR_USAGE, -EINVAL, "the " WHAT " is later than now");
	/* Reports have whole seconds; 0 would be no time at all. */
	report->since_ns = (uint64_t)(report->wall_time - before->wall_time) * NS_PER_SECOND;
	report->since_ns += !report->since_ns;
	if (localtime_r(&seconds, &tm))
		strftime(clock, sizeof(clock), "%Y-%m-%d %H:%M:%S", &tm);
	memory_report_remark(report, "Growth is since %s, %s before.", clock,
			     units_format_time(report->since_ns, time_text));
	since_remark_processes(report, before);
	since_remark_runtimes(report, before);
	return 0;
}
