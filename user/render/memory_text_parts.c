/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See memory_text_parts.h. */
#include "render/memory_text_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "render/columns.h"

/* Append ", TITLE SIZE", or its begin, if there is anything. */
static void memory_append_size(struct buffer *line, const char *before, const char *title,
			       uint64_t bytes)
{
	char size[UNITS_TEXT_MAX];

	if (bytes && bytes != HEAP_UNKNOWN)
		buffer_printf(line, "%s%s%s%s", before, title, *title ? " " : "",
			      units_format_size(bytes, size));
}

static void memory_append_count(struct buffer *line, const char *before, uint64_t count,
				const char *one, const char *many)
{
	char number[UNITS_TEXT_MAX];

	if (count && count != HEAP_UNKNOWN)
		buffer_printf(line, "%s%s %s", before, units_format_count(count, number),
			      count == 1 ? one : many);
}

/* The first column of tables in later looks, and the room that is left for names. */

static void memory_text_growth_title(const struct text_writer *writer, bool later)
{
	if (later)
		buffer_printf(writer->out, "%11s ", "GROWTH");
}

static void memory_text_growth(const struct text_writer *writer, bool later, int64_t bytes)
{
	char growth[UNITS_TEXT_MAX + 1];

	if (later)
		buffer_printf(writer->out, "%11s ", text_format_growth(bytes, growth));
}

static size_t memory_text_room(const struct text_writer *writer, bool later)
{
	size_t used = later ? 36 : 24;

	return writer->width > used ? writer->width - used : 1;
}

/* Processes */

void memory_text_members(const struct text_writer *writer, const struct memory_report *report)
{
	char rss[UNITS_TEXT_MAX], pss[UNITS_TEXT_MAX], unused[UNITS_TEXT_MAX];
	size_t i;

	if (report->member_count < 2)
		return;
	buffer_append_string(writer->out, "\n");
	text_style_set(writer, STYLE_QUIET);
	buffer_printf(writer->out, "%7s %10s %10s %12s  %s", "PID", "RSS", "PSS", "MALLOC FREE",
		      "PROCESS");
	text_style_set(writer, STYLE_PLAIN);
	buffer_append_string(writer->out, "\n");
	for (i = 0; i < report->member_count; i++) {
		const struct memory_process *member = &report->members[i];

		buffer_printf(writer->out, "%7d %10s %10s %12s  ", member->pid,
			      units_format_size(member->rss_bytes, rss),
			      report->pss_unknown ? "-" : units_format_size(member->pss_bytes, pss),
			      member->malloc_free_bytes
				      ? units_format_size(member->malloc_free_bytes, unused)
				      : "-");
		columns_append_start(writer->out, member->comm, sizeof(member->comm) - 1);
		buffer_append_string(writer->out, "\n");
	}
}

/* malloc */

static void heap_text_summary(const struct text_writer *writer, const struct heap_totals *heap,
			      struct buffer *line)
{
	char growth[UNITS_TEXT_MAX + 1];

	buffer_clear(line);
	buffer_printf(line, "malloc (%s%s%s)", heap->allocator, heap->version[0] ? " " : "",
		      heap->version);
	memory_append_count(line, ": ", heap->live_blocks, "live block", "live blocks");
	memory_append_size(line, " of ", "", heap->live_bytes);
	if (heap->growth_bytes)
		buffer_printf(line, " (%s)", text_format_growth(heap->growth_bytes, growth));
	memory_append_count(line, ", ", heap->mapped_blocks, "of them mapped", "of them mapped");
	memory_append_size(line, " with ", "", heap->mapped_bytes);
	memory_append_count(line, "; ", heap->arenas, "arena", "arenas");
	if (heap->counts_only)
		buffer_append_string(line, "; counts are right, which blocks they are is not");
	columns_wrap(writer->out, line->data, writer->width, 2);
}

static void heap_text_free(const struct text_writer *writer, const struct heap_totals *heap,
			   struct buffer *line)
{
	const char *before = "; free:";

	buffer_clear(line);
	buffer_append_string(line, "  In memory: ");
	memory_append_size(line, "", "live", heap->live_resident);
	memory_append_size(line, ", ", "overhead", heap->overhead_bytes);
	memory_append_size(line, before, " bins", heap->bins_resident);
	memory_append_size(line, heap->bins_resident ? "," : before, " top", heap->top_resident);
	memory_append_size(line, heap->bins_resident || heap->top_resident ? "," : before,
			   " thread caches", heap->thread_caches_resident);
	memory_append_size(line,
			   heap->bins_resident || heap->top_resident || heap->thread_caches_resident
				   ? ","
				   : before,
			   " fast bins", heap->fast_resident);
	columns_wrap(writer->out, line->data, writer->width, 4);
}

static void heap_text_rest(const struct text_writer *writer, const struct heap_totals *heap,
			   struct buffer *line)
{
	buffer_clear(line);
	memory_append_size(line, "  ", "A trim would return", heap->trim_bytes);
	if (!heap->trim_bytes)
		buffer_append_string(line, "  A trim would return nothing");
	memory_append_size(line, ", and never ", "", line->length ? heap->stuck_bytes : 0);
	memory_append_size(line, line->length ? "; " : "  ", "free beside live blocks in a page",
			   heap->shared_pages_bytes);
	memory_append_size(line, line->length ? "; " : "  ", "not understood", heap->unknown_bytes);
	if (line->length)
		columns_wrap(writer->out, line->data, writer->width, 4);
}

static void memory_text_remarks(const struct text_writer *writer, const struct buffer *remarks)
{
	struct buffer line = { 0 };
	const char *at = remarks->data;
	size_t length;

	for (; at && *at; at += length + (at[length] == '\n')) {
		length = strcspn(at, "\n");
		buffer_clear(&line);
		buffer_append_string(&line, "  ");
		buffer_append(&line, at, length);
		if (length)
			columns_wrap(writer->out, line.data, writer->width, 4);
	}
	buffer_free(&line);
}

void memory_text_heaps(const struct text_writer *writer, const struct memory_report *report)
{
	struct buffer line = { 0 };
	size_t i;

	for (i = 0; i < report->heap_count; i++) {
		buffer_append_string(writer->out, "\n");
		heap_text_summary(writer, &report->heaps[i], &line);
		heap_text_free(writer, &report->heaps[i], &line);
		heap_text_rest(writer, &report->heaps[i], &line);
		memory_text_remarks(writer, &report->heaps[i].remarks);
	}
	buffer_free(&line);
}

/* Runtimes */

/* What the runtime's heap is made of is called so by itself. */
static bool runtime_has_arenas(const struct memory_runtime *runtime)
{
	return !strcmp(runtime->name, "python");
}

static void runtime_text_summary(const struct text_writer *writer,
				 const struct memory_runtime *runtime, struct buffer *line)
{
	char used[UNITS_TEXT_MAX], all[UNITS_TEXT_MAX];

	buffer_clear(line);
	buffer_printf(line, "%s%s%s", runtime->name, runtime->version[0] ? " " : "",
		      runtime->version);
	memory_append_count(line, ": ", runtime->pages,
			    runtime_has_arenas(runtime) ? "arena" : "page",
			    runtime_has_arenas(runtime) ? "arenas" : "pages");
	memory_append_size(line, " of ", "", runtime->page_bytes);
	if (runtime->slots && runtime->slots != HEAP_UNKNOWN &&
	    runtime->free_slots <= runtime->slots)
		buffer_printf(line, ", %s of %s slots in use",
			      units_format_count(runtime->slots - runtime->free_slots, used),
			      units_format_count(runtime->slots, all));
	memory_append_count(line, "; ", runtime->sparse_pages, "page holds 2 % or less",
			    "pages hold 2 % or less");
	memory_append_count(line, "; ", runtime->minor_gcs, "minor GC", "minor GCs");
	memory_append_count(line, ", ", runtime->major_gcs, "major", "major");
	if (runtime->gc_ns && runtime->gc_ns != HEAP_UNKNOWN)
		buffer_printf(line, ", %s in all", units_format_time(runtime->gc_ns, all));
	if (runtime->gc_thresholds[0])
		buffer_printf(line, "; a minor GC for %u new object%s", runtime->gc_thresholds[0],
			      units_s(runtime->gc_thresholds[0]));
	columns_wrap(writer->out, line->data, writer->width, 2);
}

/* As the collector has them: the table shows live and newborn ones together. Of Python only live ones are known. */
static void runtime_text_states(const struct text_writer *writer,
				const struct memory_runtime *runtime, struct buffer *line)
{
	char live[UNITS_TEXT_MAX], old[UNITS_TEXT_MAX], newborn[UNITS_TEXT_MAX],
		garbage[UNITS_TEXT_MAX];
	struct memory_class sum = { 0 };
	size_t i;

	for (i = 0; i < runtime->class_count; i++) {
		sum.live += runtime->classes[i].live;
		sum.old += runtime->classes[i].old;
		sum.newborn += runtime->classes[i].newborn;
		sum.garbage += runtime->classes[i].garbage;
	}
	if (!(sum.old | sum.newborn | sum.garbage))
		return;
	buffer_clear(line);
	buffer_printf(line, "  Objects: %s live (%s of them old), %s newborn, %s garbage%s",
		      units_format_count(sum.live, live), units_format_count(sum.old, old),
		      units_format_count(sum.newborn, newborn),
		      units_format_count(sum.garbage, garbage),
		      runtime->after_major ? "; right after a major GC" : "");
	columns_wrap(writer->out, line->data, writer->width, 4);
}

/* Of a class in which much is new or dead: what holds new ones is not looked for. */
static void runtime_text_class_states(const struct text_writer *writer,
				      const struct memory_class *class)
{
	char newborn[UNITS_TEXT_MAX], garbage[UNITS_TEXT_MAX];
	uint64_t objects = class->live + class->newborn;
	bool is_new = class->newborn && class->newborn >= objects / 4;
	bool is_dead = class->garbage && class->garbage >= objects / 4;

	if (!is_new && !is_dead)
		return;
	buffer_printf(writer->out, "%24s", "");
	if (is_new)
		buffer_printf(writer->out, "%s newborn, which no GC has seen yet%s",
			      text_format_count(class->newborn, newborn), is_dead ? "; " : "");
	if (is_dead)
		buffer_printf(writer->out, "%s%s garbage", is_new ? "" : "besides ",
			      text_format_count(class->garbage, garbage));
	buffer_append_string(writer->out, "\n");
}

static void runtime_text_holders(const struct text_writer *writer, const struct memory_class *class)
{
	char retained[UNITS_TEXT_MAX], native[UNITS_TEXT_MAX], slots[UNITS_TEXT_MAX];
	struct buffer line = { 0 };
	size_t i;

	if (class->native_bytes)
		buffer_printf(writer->out, "%24s%s in slots, %s native\n", "",
			      units_format_size(class->slot_bytes, slots),
			      units_format_size(class->native_bytes, native));
	if (class->retained)
		buffer_printf(writer->out, "%24s%s born after the first look, and alive since\n",
			      "", text_format_count(class->retained, retained));
	for (i = 0; i < class->holder_count; i++) {
		buffer_clear(&line);
		buffer_printf(&line, "%24s<- %s", "", class->holders[i]);
		columns_wrap(writer->out, line.data, writer->width, 27);
	}
	buffer_free(&line);
}

static void runtime_text_classes(const struct text_writer *writer,
				 const struct memory_runtime *runtime, size_t top, bool later)
{
	char live[UNITS_TEXT_MAX], size[UNITS_TEXT_MAX];
	size_t i, used;

	if (!runtime->class_count)
		return;
	text_style_set(writer, STYLE_QUIET);
	memory_text_growth_title(writer, later);
	buffer_printf(writer->out, "%11s %10s  %s", "OBJECTS", "BYTES", "CLASS");
	text_style_set(writer, STYLE_PLAIN);
	buffer_append_string(writer->out, "\n");
	for (i = 0; i < runtime->class_count && (!top || i < top); i++) {
		const struct memory_class *class = &runtime->classes[i];

		memory_text_growth(writer, later, class->growth_bytes);
		buffer_printf(writer->out, "%11s %10s  ",
			      text_format_count(class->live + class->newborn, live),
			      units_format_size(class->slot_bytes + class->other_bytes, size));
		used = memory_text_room(writer, later);
		columns_append_start(writer->out, class->name ? class->name : "", used);
		buffer_append_string(writer->out, "\n");
		runtime_text_class_states(writer, class);
		runtime_text_holders(writer, class);
	}
}

static void runtime_text_longest(const struct text_writer *writer,
				 const struct memory_runtime *runtime)
{
	char length[UNITS_TEXT_MAX], size[UNITS_TEXT_MAX];
	struct buffer line = { 0 };
	size_t i;

	for (i = 0; i < runtime->longest_count; i++) {
		const struct memory_longest *row = &runtime->longest[i];

		buffer_clear(&line);
		buffer_printf(
			&line, "%11s %10s  %s%s%s%s%s%s", text_format_count(row->length, length),
			units_format_size(row->bytes, size), row->kind, row->sample ? " \"" : "",
			row->sample ? row->sample : "", row->sample ? "\"" : "",
			row->holder ? " <- " : "", row->holder ? row->holder : "");
		columns_wrap(writer->out, line.data, writer->width, 27);
	}
	buffer_free(&line);
}

static void runtime_text_files(const struct text_writer *writer,
			       const struct memory_runtime *runtime, size_t top)
{
	char count[UNITS_TEXT_MAX], size[UNITS_TEXT_MAX];
	size_t i;

	for (i = 0; i < runtime->file_count && (!top || i < top); i++) {
		buffer_printf(writer->out, "%11s %10s  ",
			      text_format_count(runtime->files[i].live, count),
			      units_format_size(runtime->files[i].other_bytes, size));
		columns_append_end(writer->out, runtime->files[i].name,
				   memory_text_room(writer, false));
		buffer_append_string(writer->out, "\n");
	}
}

static void runtime_text_title(const struct text_writer *writer, size_t rows, const char *first,
			       const char *last)
{
	if (!rows)
		return;
	text_style_set(writer, STYLE_QUIET);
	buffer_printf(writer->out, "%11s %10s  %s", first, "BYTES", last);
	text_style_set(writer, STYLE_PLAIN);
	buffer_append_string(writer->out, "\n");
}

void memory_text_runtimes(const struct text_writer *writer, const struct memory_report *report,
			  size_t top)
{
	struct buffer line = { 0 };
	size_t i;

	for (i = 0; i < report->runtime_count; i++) {
		buffer_append_string(writer->out, "\n");
		runtime_text_summary(writer, &report->runtimes[i], &line);
		runtime_text_states(writer, &report->runtimes[i], &line);
		runtime_text_classes(writer, &report->runtimes[i], top,
				     memory_report_has_class_growth(report));
		runtime_text_title(writer, report->runtimes[i].longest_count, "LENGTH", "LONGEST");
		runtime_text_longest(writer, &report->runtimes[i]);
		runtime_text_title(writer, report->runtimes[i].file_count,
				   strcmp(report->runtimes[i].name, "ruby") ? "OBJECTS" : "ISEQS",
				   "CODE OF");
		runtime_text_files(writer, &report->runtimes[i], top);
		memory_text_remarks(writer, &report->runtimes[i].remarks);
	}
	buffer_free(&line);
}

/* Kinds */

static void kind_append_count(struct buffer *line, uint64_t count, const char *what)
{
	char number[UNITS_TEXT_MAX];

	if (count && count != HEAP_UNKNOWN)
		buffer_printf(line, "%s%s %s", line->length ? ", " : "",
			      text_format_count(count, number), what);
}

/* What became of its blocks, where any came or went. */
static void kind_text_changes(const struct text_writer *writer, const struct memory_kind *kind)
{
	struct buffer line = { 0 }, text = { 0 };

	if (kind->born == HEAP_UNKNOWN || !(kind->born | kind->gone | kind->written))
		return;
	kind_append_count(&line, kind->born, "born");
	kind_append_count(&line, kind->gone, "gone");
	kind_append_count(&line, kind->written, "written");
	kind_append_count(&line, kind->unchanged, "unchanged");
	kind_append_count(&line, kind->retained, "retained");
	buffer_printf(&text, "%36s%s", "", line.data);
	columns_wrap(writer->out, text.data, writer->width, 38);
	buffer_free(&line);
	buffer_free(&text);
}

static void kind_append_sample(struct buffer *what, const char *sample)
{
	if (sample && *sample)
		buffer_printf(what, " \"%s\"", sample);
}

static void kind_text(const struct text_writer *writer, const struct memory_kind *kind, bool later)
{
	char blocks[UNITS_TEXT_MAX], size[UNITS_TEXT_MAX];
	struct buffer what = { 0 };

	memory_text_growth(writer, later, kind->growth_bytes);
	buffer_printf(writer->out, "%11s %10s  ", text_format_count(kind->blocks, blocks),
		      units_format_size(kind->bytes, size));
	buffer_append_string(&what, kind->kind);
	if (kind->name && *kind->name)
		buffer_printf(&what, " %s", kind->name);
	if (kind->size)
		buffer_printf(&what, ", %" PRIu64 " B", kind->size);
	if (kind->holder && *kind->holder)
		buffer_printf(&what, " %s", kind->holder);
	kind_append_sample(&what, kind->sample);
	columns_append_start(writer->out, what.data, memory_text_room(writer, later));
	buffer_append_string(writer->out, "\n");
	buffer_free(&what);
	if (later)
		kind_text_changes(writer, kind);
}

/* Rows of less than a 200th of RSS explain nothing; -v and -n 0 have them. */
static bool kind_matters(const struct text_writer *writer, const struct memory_report *report,
			 const struct memory_kind *kind, size_t top)
{
	int64_t growth = memory_report_has_kind_growth(report, kind) ? kind->growth_bytes : 0;
	uint64_t change = growth < 0 ? -(uint64_t)growth : (uint64_t)growth;
	uint64_t bytes = kind->bytes > change ? kind->bytes : change;

	return writer->verbose || !top || bytes >= report->process.rss_bytes / 200;
}

static void kind_text_titles(const struct text_writer *writer, bool later)
{
	buffer_append_string(writer->out, "\n");
	text_style_set(writer, STYLE_QUIET);
	memory_text_growth_title(writer, later);
	buffer_printf(writer->out, "%11s %10s  %s", "BLOCKS", "BYTES", "KIND OF LIVE BLOCKS");
	text_style_set(writer, STYLE_PLAIN);
	buffer_append_string(writer->out, "\n");
}

void memory_text_kinds(const struct text_writer *writer, const struct memory_report *report,
		       size_t top)
{
	bool later = report->kind_count && memory_report_has_kind_growth(report, report->kinds);
	size_t i, shown = 0;

	for (i = 0; i < report->kind_count && (!top || i < top); i++) {
		if (!kind_matters(writer, report, &report->kinds[i], top))
			continue;
		if (!shown++)
			kind_text_titles(writer, later);
		kind_text(writer, &report->kinds[i], later);
	}
}

/* Of all live bytes, in percent; copies of less are left out. */
#define COPIES_PERCENT 1

static void copies_text(const struct text_writer *writer, const struct memory_copies *copies)
{
	char blocks[UNITS_TEXT_MAX], size[UNITS_TEXT_MAX];
	struct buffer what = { 0 };

	buffer_printf(writer->out, "%11s %10s  ", text_format_count(copies->blocks, blocks),
		      units_format_size(copies->bytes, size));
	buffer_printf(&what, "%s%s%s, %" PRIu64 " B", copies->kind, *copies->name ? " " : "",
		      copies->name, copies->size);
	if (copies->same_bytes < copies->size)
		buffer_printf(&what, " (the first %" PRIu64 ")", copies->same_bytes);
	buffer_printf(&what, ", one at 0x%" PRIx64, copies->address);
	if (*copies->holder)
		buffer_printf(&what, " %s", copies->holder);
	kind_append_sample(&what, copies->sample);
	columns_append_start(writer->out, what.data, memory_text_room(writer, false));
	buffer_append_string(writer->out, "\n");
	buffer_free(&what);
}

void memory_text_copies(const struct text_writer *writer, const struct memory_report *report,
			size_t top)
{
	uint64_t live = 0;
	size_t i;

	for (i = 0; i < report->heap_count; i++)
		live += report->heaps[i].live_bytes + report->heaps[i].mapped_bytes;
	for (i = 0; i < report->copy_count && (!top || i < top); i++) {
		if (report->copies[i].bytes < live / 100 * COPIES_PERCENT)
			return;
		if (!i) {
			buffer_append_string(writer->out, "\n");
			runtime_text_title(writer, 1, "COPIES", "EQUAL CONTENTS");
		}
		copies_text(writer, &report->copies[i]);
	}
}

/* The kernel */

/* Shared memory is counted as that of files, too. */
static uint64_t memory_group_cache(const struct memory_group *group)
{
	if (group->file_bytes == HEAP_UNKNOWN || group->shmem_bytes == HEAP_UNKNOWN)
		return group->file_bytes;
	return group->file_bytes -
	       (group->shmem_bytes < group->file_bytes ? group->shmem_bytes : group->file_bytes);
}

static void kernel_append_group(struct buffer *line, const struct memory_group *group, bool several)
{
	if (!group->known)
		return;
	memory_append_size(line,
			   several ? ". The control group that all are in is charged with "
				   : ". Its control group is charged with ",
			   "", group->usage_bytes);
	memory_append_size(line, ": ", "anonymous", group->anon_bytes);
	memory_append_size(line, ", ", "page cache", memory_group_cache(group));
	memory_append_size(line, ", ", "shared memory", group->shmem_bytes);
	memory_append_size(line, ", ", "kernel", group->kernel_bytes);
	memory_append_size(line, ", ", "slab", group->slab_bytes);
	memory_append_size(line, ", ", "sockets", group->socket_bytes);
	memory_append_size(line, "; ", "limit", group->limit_bytes);
}

void memory_text_kernel(const struct text_writer *writer, const struct memory_report *report)
{
	const struct memory_kernel *kernel = &report->kernel;
	struct buffer line = { 0 };

	memory_append_size(&line, "", "page tables", kernel->table_bytes);
	memory_append_size(&line, line.length ? ", " : "", "kernel stacks", kernel->stack_bytes);
	memory_append_size(&line, line.length ? ", " : "", "huge pages (hugetlbfs)",
			   kernel->hugetlb_bytes);
	memory_append_count(&line, line.length ? ", " : "", kernel->sockets, "socket", "sockets");
	memory_append_size(&line, " with ", "", kernel->queued_bytes);
	memory_append_count(&line, line.length ? ", " : "", kernel->pipes, "pipe", "pipes");
	memory_append_count(&line, line.length ? ", " : "", kernel->files, "file", "files");
	memory_append_count(&line, line.length ? ", " : "", kernel->other_files, "other descriptor",
			    "other descriptors");
	if (line.length || report->group.known) {
		struct buffer text = { 0 };

		kernel_append_group(&line, &report->group, report->member_count > 1);
		buffer_printf(&text, "Besides RSS: %s.", line.length ? line.data : "");
		buffer_append_string(writer->out, "\n");
		columns_wrap(writer->out, text.data, writer->width, 2);
		buffer_free(&text);
	}
	buffer_free(&line);
}
