/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process's memory as JSON: one object on one line. Keys are a contract with other programs: none is renamed, and what is unknown
 * is null.
 */
#include <inttypes.h>
#include <stdio.h>

#include "render/json_member.h"
#include "render/json_writer.h"
#include "render/memory.h"

/* "" gives null, too. */
static void memory_json_text(struct json_writer *json, const char *key, const char *text)
{
	json_member_string(json, key, text && *text ? text : NULL);
}

/* HEAP_UNKNOWN gives null. */
static void memory_json_number(struct json_writer *json, const char *key, uint64_t number)
{
	json_writer_key(json, key);
	if (number == HEAP_UNKNOWN)
		json_writer_null(json);
	else
		json_writer_integer(json, number);
}

/* Lines of a buffer as an array of sentences. */
static void memory_json_lines(struct json_writer *json, const char *key, const struct buffer *lines)
{
	struct buffer line = { 0 };
	const char *at = lines->data, *end;

	json_writer_key(json, key);
	json_writer_open(json, '[');
	for (; at && *at; at = *end ? end + 1 : end) {
		for (end = at; *end && *end != '\n'; end++)
			;
		if (end == at)
			continue;
		buffer_clear(&line);
		buffer_append(&line, at, (size_t)(end - at));
		json_writer_string(json, line.data);
	}
	json_writer_close(json, ']');
	buffer_free(&line);
}

static void memory_json_process(struct json_writer *json, const struct memory_process *process,
				bool pss_unknown)
{
	memory_json_number(json, "rss_bytes", process->rss_bytes);
	memory_json_number(json, "pss_bytes", pss_unknown ? HEAP_UNKNOWN : process->pss_bytes);
	memory_json_number(json, "swap_bytes", process->swap_bytes);
	memory_json_number(json, "huge_bytes", process->huge_bytes);
	memory_json_number(json, "huge_zero_bytes", process->huge_zero_bytes);
	memory_json_number(json, "threads", process->threads);
	memory_json_number(json, "mapped_bytes", process->mapped_bytes);
	memory_json_number(json, "mappings", process->mappings);
	memory_json_number(json, "rss_after_bytes", process->rss_after_bytes);
}

static void memory_json_target(struct json_writer *json, const struct memory_process *process,
			       bool pss_unknown)
{
	json_writer_open(json, '{');
	memory_json_number(json, "pid", (uint64_t)process->pid);
	json_member_string(json, "comm", process->comm);
	memory_json_number(json, "start_ticks",
			   process->start_ticks ? process->start_ticks : HEAP_UNKNOWN);
	memory_json_process(json, process, pss_unknown);
	memory_json_number(json, "malloc_free_bytes", process->malloc_free_bytes);
	json_writer_close(json, '}');
}

static void memory_json_targets(struct json_writer *json, const struct memory_report *report)
{
	size_t i;

	json_writer_key(json, "targets");
	json_writer_open(json, '[');
	for (i = 0; i < report->member_count; i++)
		memory_json_target(json, &report->members[i], report->pss_unknown);
	if (!report->member_count)
		memory_json_target(json, &report->process, report->pss_unknown);
	json_writer_close(json, ']');
}

static void memory_json_growth(struct json_writer *json, const char *key, int64_t growth,
			       bool is_known)
{
	json_writer_key(json, key);
	if (is_known)
		json_writer_signed(json, growth);
	else
		json_writer_null(json);
}

static void memory_json_part(struct json_writer *json, const struct memory_report *report, int i)
{
	const struct purpose_sum *sum = &report->parts[i];
	int64_t growth = 0;
	bool is_known;

	json_writer_open(json, '{');
	json_member_string(json, "purpose", purpose_name((enum purpose)i));
	memory_json_number(json, "rss_bytes", sum->rss);
	memory_json_number(json, "pss_bytes", report->pss_unknown ? HEAP_UNKNOWN : sum->pss);
	memory_json_number(json, "swap_bytes", sum->swap);
	memory_json_number(json, "mapped_bytes", sum->mapped);
	memory_json_number(json, "count", sum->count);
	is_known = memory_report_growth_of_part(report, (enum purpose)i, &growth);
	memory_json_growth(json, "growth_bytes", growth, is_known);
	json_writer_close(json, '}');
}

static void memory_json_parts(struct json_writer *json, const struct memory_report *report)
{
	int i;

	json_writer_key(json, "parts");
	json_writer_open(json, '[');
	for (i = 0; i < PURPOSE_COUNT; i++)
		if (report->parts[i].mapped ||
		    (report->parts_before && report->parts_before[i].mapped))
			memory_json_part(json, report, i);
	json_writer_close(json, ']');
}

static void memory_json_heap(struct json_writer *json, const struct heap_totals *heap)
{
	json_writer_open(json, '{');
	json_member_string(json, "allocator", heap->allocator);
	json_member_string(json, "version", heap->version[0] ? heap->version : NULL);
	memory_json_number(json, "arenas", heap->arenas);
	memory_json_number(json, "live_bytes", heap->live_bytes);
	memory_json_number(json, "live_blocks", heap->live_blocks);
	memory_json_number(json, "mapped_bytes", heap->mapped_bytes);
	memory_json_number(json, "mapped_blocks", heap->mapped_blocks);
	memory_json_number(json, "overhead_bytes", heap->overhead_bytes);
	memory_json_number(json, "free_bytes", heap->free_bytes);
	memory_json_number(json, "live_resident_bytes", heap->live_resident);
	memory_json_number(json, "bins_resident_bytes", heap->bins_resident);
	memory_json_number(json, "fast_resident_bytes", heap->fast_resident);
	memory_json_number(json, "caches_resident_bytes", heap->thread_caches_resident);
	memory_json_number(json, "top_resident_bytes", heap->top_resident);
	memory_json_number(json, "trim_bytes", heap->trim_bytes);
	memory_json_number(json, "stuck_bytes", heap->stuck_bytes);
	memory_json_number(json, "shared_pages_bytes", heap->shared_pages_bytes);
	memory_json_number(json, "unknown_bytes", heap->unknown_bytes);
	json_member_bool(json, "counts_only", heap->counts_only);
	memory_json_lines(json, "remarks", &heap->remarks);
	json_writer_close(json, '}');
}

static void memory_json_heaps(struct json_writer *json, const struct memory_report *report)
{
	size_t i;

	json_writer_key(json, "malloc");
	json_writer_open(json, '[');
	for (i = 0; i < report->heap_count; i++)
		memory_json_heap(json, &report->heaps[i]);
	json_writer_close(json, ']');
}

static void memory_json_kind(struct json_writer *json, const struct memory_kind *kind, bool later)
{
	json_writer_open(json, '{');
	json_member_string(json, "kind", kind->kind);
	memory_json_text(json, "name", kind->name);
	memory_json_number(json, "size", kind->size ? kind->size : HEAP_UNKNOWN);
	memory_json_number(json, "blocks", kind->blocks);
	memory_json_number(json, "bytes", kind->bytes);
	memory_json_number(json, "blocks_error", kind->blocks_error);
	memory_json_number(json, "bytes_error", kind->bytes_error);
	memory_json_text(json, "holder", kind->holder);
	memory_json_text(json, "sample", kind->sample);
	memory_json_number(json, "born", kind->born);
	memory_json_number(json, "gone", kind->gone);
	memory_json_number(json, "unchanged", kind->unchanged);
	memory_json_number(json, "written", kind->written);
	memory_json_number(json, "retained", kind->retained);
	memory_json_growth(json, "growth_blocks", kind->growth_blocks, later);
	memory_json_growth(json, "growth_bytes", kind->growth_bytes, later);
	json_writer_close(json, '}');
}

static void memory_json_class(struct json_writer *json, const struct memory_class *class,
			      bool later)
{
	size_t i;

	json_writer_open(json, '{');
	json_member_string(json, "name", class->name);
	memory_json_number(json, "live", class->live);
	memory_json_number(json, "newborn", class->newborn);
	memory_json_number(json, "garbage", class->garbage);
	memory_json_number(json, "old", class->old);
	memory_json_number(json, "slot_bytes", class->slot_bytes);
	memory_json_number(json, "other_bytes", class->other_bytes);
	memory_json_number(json, "native_bytes", class->native_bytes);
	memory_json_number(json, "retained", class->retained);
	memory_json_growth(json, "growth_objects", class->growth_objects, later);
	memory_json_growth(json, "growth_bytes", class->growth_bytes, later);
	json_writer_key(json, "holders");
	json_writer_open(json, '[');
	for (i = 0; i < class->holder_count; i++)
		json_writer_string(json, class->holders[i]);
	json_writer_close(json, ']');
	json_writer_close(json, '}');
}

static void memory_json_longest(struct json_writer *json, const struct memory_runtime *runtime)
{
	size_t i;

	json_writer_key(json, "longest");
	json_writer_open(json, '[');
	for (i = 0; i < runtime->longest_count; i++) {
		const struct memory_longest *row = &runtime->longest[i];

		json_writer_open(json, '{');
		json_member_string(json, "kind", row->kind);
		memory_json_number(json, "length", row->length);
		memory_json_number(json, "bytes", row->bytes);
		json_member_string(json, "sample", row->sample);
		json_member_string(json, "holder", row->holder);
		json_writer_close(json, '}');
	}
	json_writer_close(json, ']');
}

/* Code, by file. */
static void memory_json_files(struct json_writer *json, const struct memory_runtime *runtime)
{
	size_t i;

	json_writer_key(json, "code");
	json_writer_open(json, '[');
	for (i = 0; i < runtime->file_count; i++) {
		json_writer_open(json, '{');
		json_member_string(json, "file", runtime->files[i].name);
		memory_json_number(json, "pieces", runtime->files[i].live);
		memory_json_number(json, "bytes", runtime->files[i].other_bytes);
		json_writer_close(json, '}');
	}
	json_writer_close(json, ']');
}

static void memory_json_runtime(struct json_writer *json, const struct memory_runtime *runtime,
				bool later)
{
	size_t i;

	json_writer_open(json, '{');
	json_member_string(json, "runtime", runtime->name);
	json_member_string(json, "version", runtime->version[0] ? runtime->version : NULL);
	memory_json_number(json, "pages", runtime->pages);
	memory_json_number(json, "page_bytes", runtime->page_bytes);
	memory_json_number(json, "sparse_pages", runtime->sparse_pages);
	memory_json_number(json, "slots", runtime->slots);
	memory_json_number(json, "free_slots", runtime->free_slots);
	memory_json_number(json, "free_bytes", runtime->free_bytes);
	json_writer_key(json, "gc_thresholds");
	json_writer_open(json, '[');
	for (i = 0; i < sizeof(runtime->gc_thresholds) / sizeof(uint32_t); i++)
		json_writer_integer(json, runtime->gc_thresholds[i]);
	json_writer_close(json, ']');
	memory_json_number(json, "minor_gcs", runtime->minor_gcs);
	memory_json_number(json, "major_gcs", runtime->major_gcs);
	json_writer_key(json, "gc_s");
	if (runtime->gc_ns == HEAP_UNKNOWN)
		json_writer_null(json);
	else
		json_writer_seconds(json, runtime->gc_ns);
	json_member_bool(json, "after_major", runtime->after_major);
	json_member_bool(json, "blocks_known", !runtime->blocks_unknown);
	json_writer_key(json, "classes");
	json_writer_open(json, '[');
	for (i = 0; i < runtime->class_count; i++)
		memory_json_class(json, &runtime->classes[i], later);
	json_writer_close(json, ']');
	memory_json_longest(json, runtime);
	memory_json_files(json, runtime);
	memory_json_lines(json, "remarks", &runtime->remarks);
	json_writer_close(json, '}');
}

static void memory_json_copies(struct json_writer *json, const struct memory_copies *copies)
{
	char address[32];

	snprintf(address, sizeof(address), "0x%" PRIx64, copies->address);
	json_writer_open(json, '{');
	json_member_string(json, "kind", copies->kind);
	memory_json_text(json, "name", copies->name);
	memory_json_number(json, "size", copies->size);
	memory_json_number(json, "same_bytes", copies->same_bytes);
	memory_json_number(json, "blocks", copies->blocks);
	memory_json_number(json, "bytes", copies->bytes);
	memory_json_text(json, "holder", copies->holder);
	json_member_string(json, "address", address);
	memory_json_text(json, "sample", copies->sample);
	json_writer_close(json, '}');
}

static void memory_json_objects(struct json_writer *json, const struct memory_report *report)
{
	size_t i;

	json_writer_key(json, "kinds");
	json_writer_open(json, '[');
	for (i = 0; i < report->kind_count; i++)
		memory_json_kind(json, &report->kinds[i],
				 memory_report_has_kind_growth(report, &report->kinds[i]));
	json_writer_close(json, ']');
	json_writer_key(json, "copies");
	json_writer_open(json, '[');
	for (i = 0; i < report->copy_count; i++)
		memory_json_copies(json, &report->copies[i]);
	json_writer_close(json, ']');
	json_writer_key(json, "objects");
	json_writer_open(json, '[');
	for (i = 0; i < report->runtime_count; i++)
		memory_json_runtime(json, &report->runtimes[i],
				    memory_report_has_class_growth(report));
	json_writer_close(json, ']');
}

static void memory_json_verdicts(struct json_writer *json, const struct memory_report *report)
{
	size_t i;

	json_writer_key(json, "verdict");
	json_writer_open(json, '[');
	for (i = 0; i < report->verdict_count; i++) {
		json_writer_open(json, '{');
		json_member_string(json, "cause", report->verdicts[i].cause);
		memory_json_number(json, "bytes", report->verdicts[i].bytes);
		json_member_string(json, "text", report->verdicts[i].text);
		json_member_string(json, "remedy", report->verdicts[i].remedy);
		json_writer_close(json, '}');
	}
	json_writer_close(json, ']');
}

static void memory_json_kernel(struct json_writer *json, const struct memory_report *report)
{
	const struct memory_kernel *kernel = &report->kernel;
	const struct memory_group *group = &report->group;

	json_writer_key(json, "kernel");
	json_writer_open(json, '{');
	memory_json_number(json, "page_table_bytes", kernel->table_bytes);
	memory_json_number(json, "stack_bytes", kernel->stack_bytes);
	memory_json_number(json, "hugetlb_bytes", kernel->hugetlb_bytes);
	memory_json_number(json, "sockets", kernel->sockets);
	memory_json_number(json, "queued_bytes", kernel->queued_bytes);
	memory_json_number(json, "pipes", kernel->pipes);
	memory_json_number(json, "files", kernel->files);
	memory_json_number(json, "other_files", kernel->other_files);
	json_writer_close(json, '}');
	json_writer_key(json, "cgroup");
	if (!group->known) {
		json_writer_null(json);
		return;
	}
	json_writer_open(json, '{');
	memory_json_number(json, "usage_bytes", group->usage_bytes);
	memory_json_number(json, "limit_bytes", group->limit_bytes);
	memory_json_number(json, "anon_bytes", group->anon_bytes);
	memory_json_number(json, "file_bytes", group->file_bytes);
	memory_json_number(json, "shmem_bytes", group->shmem_bytes);
	memory_json_number(json, "kernel_bytes", group->kernel_bytes);
	memory_json_number(json, "slab_bytes", group->slab_bytes);
	memory_json_number(json, "socket_bytes", group->socket_bytes);
	json_writer_close(json, '}');
}

static void memory_json_cut(struct json_writer *json, const struct memory_report *report)
{
	unsigned int i;

	json_writer_key(json, "cut_short");
	json_writer_open(json, '[');
	for (i = 0; i < MEMORY_CUT_COUNT; i++)
		if (report->cut & 1u << i)
			json_writer_string(json, memory_cut_name(i));
	json_writer_close(json, ']');
}

static void memory_json_opening(struct json_writer *json, const struct memory_report *report)
{
	memory_json_number(json, "schema", 1);
	json_member_string(json, "tool", "tracer");
	json_member_string(json, "command", "memory");
	json_member_string(json, "version", TRACER_VERSION);
	json_member_time(json, "time", report->wall_time);
	json_member_seconds(json, "duration_s", report->duration_ns, true);
	json_member_seconds(json, "since_s", report->since_ns, report->since_ns);
}

void render_memory_json(const struct memory_report *report,
			const struct render_memory_options *options, struct buffer *out)
{
	struct json_writer json = { .out = out };

	(void)options;
	json_writer_open(&json, '{');
	memory_json_opening(&json, report);
	memory_json_targets(&json, report);
	json_writer_key(&json, "process");
	json_writer_open(&json, '{');
	memory_json_process(&json, &report->process, report->pss_unknown);
	json_writer_close(&json, '}');
	memory_json_parts(&json, report);
	memory_json_heaps(&json, report);
	memory_json_objects(&json, report);
	memory_json_kernel(&json, report);
	memory_json_verdicts(&json, report);
	memory_json_number(&json, "read_bytes", report->read_bytes);
	memory_json_number(&json, "reads", report->reads);
	memory_json_cut(&json, report);
	memory_json_lines(&json, "remarks", &report->remarks);
	json_writer_close(&json, '}');
	buffer_append_string(out, "\n");
}
