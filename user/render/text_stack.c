/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks of the first rows: what was called, then a line per frame, function to the left, place to the right. A long function
 * name may reach into the right column as far as the place leaves room. Outer frames that a stack has in common
 * with one before it stand there only.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/report_verdict.h"
#include "base/strings.h"
#include "base/units.h"
#include "model/source.h"
#include "render/columns.h"
#include "render/formats.h"
#include "render/text_parts.h"
#include "render/text_place.h"

#define STACK_INDENT 5
#define NAME_COLUMN_MAX 39
#define GAP 2

#define STACKS_SHOWN 3
#define FRAMES_MIN 2
#define FRAMES_MAX 8
/* A common end of fewer frames is shown again: a remark in their place would not be shorter. */
#define COMMON_MIN 2

/* The stacks that are shown, as far as the next one may have an end in common with them. */
struct stacks {
	struct report_site sites[STACKS_SHOWN];
	size_t count; /* all that were shown */
	size_t frames; /* of each, at most */
	size_t name_column;
	bool explained; /* how all are shown */
	struct strings hints; /* those that were shown */
};

/* What is shown of a stack. */
struct shown {
	const struct report_frame *frames;
	size_t count;
	size_t line; /* the application's; REPORT_NO_LINE = none */
	size_t inner; /* so many frames, */
	size_t from, to; /* then these */
	size_t common, common_rank; /* so many outer ones are those of another row */
};

static struct shown stack_of(const struct report_site *site)
{
	struct shown shown = { .frames = site->frames,
			       .count = site->frame_count,
			       .line = site->line };

	if (site->by_line && site->stack_length) {
		shown.frames = site->stack;
		shown.count = site->stack_length;
	}
	if (shown.line >= shown.count)
		shown.line = REPORT_NO_LINE;
	return shown;
}

/* How many frames, how they are cut */

static bool stack_texts_differ(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") != 0;
}

static bool stack_frames_are_equal(const struct report_frame *a, const struct report_frame *b)
{
	return a->kind == b->kind && a->line == b->line && a->inlined == b->inlined &&
	       (a->file || a->offset == b->offset) &&
	       !stack_texts_differ(a->function, b->function) &&
	       !stack_texts_differ(a->file, b->file) && !stack_texts_differ(a->module, b->module);
}

/* How many outer frames both have. */
static size_t stack_common(const struct shown *a, const struct shown *b)
{
	size_t count = 0;

	while (count < a->count && count < b->count &&
	       stack_frames_are_equal(&a->frames[a->count - 1 - count],
				      &b->frames[b->count - 1 - count]))
		count++;
	return count;
}

static void stack_find_common(struct shown *shown, const struct stacks *stacks)
{
	size_t known = stacks->count < STACKS_SHOWN ? stacks->count : STACKS_SHOWN, i;

	for (i = 0; i < known && shown->count; i++) {
		const struct shown other = stack_of(&stacks->sites[i]);
		size_t common = stack_common(shown, &other);

		/* The line itself is always shown. */
		if (shown->line != REPORT_NO_LINE && common >= shown->count - shown->line)
			common = shown->count - shown->line - 1;
		if (common == shown->count)
			common--;
		if (common >= COMMON_MIN && common > shown->common) {
			shown->common = common;
			shown->common_rank = stacks->sites[i].rank;
		}
	}
}

/* The innermost frames; where the line is further out, fewer of them, and it with its callers. */
static void stack_cut(struct shown *shown, size_t frames)
{
	size_t own = shown->count - shown->common;

	/* A remark on a single frame would be as long. */
	if (frames < own && own - frames == 1)
		frames++;
	shown->inner = own < frames ? own : frames;
	shown->from = shown->to = shown->inner;
	if (shown->line == REPORT_NO_LINE || shown->line < shown->inner)
		return;
	shown->inner = frames / 2;
	shown->from = shown->line;
	shown->to = shown->line + frames - shown->inner;
	if (shown->to > own)
		shown->to = own;
	if (shown->from - shown->inner == 1)
		shown->inner++;
}

static bool stack_shows(const struct shown *shown, size_t index)
{
	return index < shown->inner || (index >= shown->from && index < shown->to);
}

static struct shown stack_choose(const struct report_site *site, const struct stacks *stacks)
{
	struct shown shown = stack_of(site);

	stack_find_common(&shown, stacks);
	stack_cut(&shown, stacks->frames);
	return shown;
}

/* Lines */

/* A remark in the place of a frame. */
static void stack_remark(const struct text_writer *writer, const char *text)
{
	columns_pad(writer->out, 0, STACK_INDENT);
	text_style_set(writer, STYLE_QUIET);
	columns_append_start(writer->out, text,
			     writer->width == COLUMNS_ANY ? COLUMNS_ANY
							  : writer->width - STACK_INDENT);
	text_style_set(writer, STYLE_PLAIN);
	buffer_append_string(writer->out, "\n");
}

/* " in puma (812)", or of a line in processes of one program " in 2 of 4 processes of puma", or " in 2 of 3 workers of puma". */
static void stack_append_process(struct buffer *line, const struct report_site *site)
{
	buffer_append_string(line, " in ");
	if (site->of_workers)
		buffer_printf(line, "%zu of %zu workers of ", site->process_count,
			      site->of_workers);
	else if (site->of_processes > 1)
		buffer_printf(line, "%zu of %zu processes of ", site->process_count,
			      site->of_processes);
	columns_append_start(line, site->target->comm, COMM_MAX);
	if (site->process_count == 1)
		buffer_printf(line, " (%d)", site->pid);
}

/* "malloc (glibc, heap), the greatest of 4 stacks" */
static void stack_append_call(struct buffer *line, const struct text_writer *writer,
			      const struct report_site *site)
{
	if (site->function) {
		columns_append_start(line, site->function, writer->paths ? COLUMNS_ANY : 32);
		buffer_append_string(line, " (");
	}
	if (site->allocator) {
		columns_append_start(line, site->allocator, 12);
		buffer_append_string(line, ", ");
	}
	buffer_append_string(line, source_name(site->source));
	if (site->sampled)
		buffer_append_string(line, site->estimate.known ? ", estimated"
								: ", estimated from samples");
	buffer_append_string(line, site->function ? ")" : "");
	/* Of one that grows there is a line more, with its name. */
	if (site->container && !site->stats.grown_objects)
		buffer_printf(line, " for %s", site->container);
}

/* "Ruby heap pages (mmap), 2.1 MiB resident" */
static void stack_append_region(struct buffer *line, const struct report_site *site)
{
	char size[UNITS_TEXT_MAX];

	if (site->region != REGION_NONE)
		buffer_printf(line, "%s (%s)", region_title(site->region),
			      source_name(site->source));
	if (site->resident_known && site_stats_hold(&site->stats))
		buffer_printf(line, ", %s resident",
			      units_format_size(site->stats.resident_bytes, size));
}

/* What a runtime's heap has more of, and the command that looks inside. */
static void stack_inside(const struct text_writer *writer, const struct report_site *site)
{
	struct buffer line = { 0 };
	bool objects;

	if (site->region == REGION_NONE || site->ended || site->target->exited)
		return;
	if (site->grown_classes && site->grown_classes->count) {
		buffer_append_string(&line, "objects: ");
		memory_growth_describe(site->grown_classes, &line);
		stack_remark(writer, line.data);
		buffer_clear(&line);
	}
	objects = site->region == REGION_RUBY_HEAP || site->region == REGION_PYTHON_ARENA;
	buffer_printf(&line, "inside: tracer memory -p %d%s", site->pid,
		      objects ? " --objects" : "");
	stack_remark(writer, line.data);
	buffer_free(&line);
}

/* The row's number, what was called, and where there are several, in which process. */
static void stack_head(const struct text_writer *writer, const struct report *report,
		       const struct report_site *site)
{
	struct buffer line = { 0 };

	buffer_printf(&line, "%*zu  ", STACK_INDENT - 2, site->rank);
	if (site->region == REGION_NONE)
		stack_append_call(&line, writer, site);
	stack_append_region(&line, site);
	if (report->target_count > 1)
		stack_append_process(&line, site);
	if (site->by_line && site->stack_count > 1)
		buffer_printf(&line, ", the greatest of %zu stacks", site->stack_count);
	columns_append_start(writer->out, line.data, writer->width);
	buffer_append_string(writer->out, "\n");
	buffer_free(&line);
}

/* " in /path/module+0xoffset (build ID ...)" */
static void stack_append_module(const struct text_writer *writer, const struct report_frame *frame)
{
	text_style_set(writer, STYLE_QUIET);
	buffer_append_string(writer->out, "  in ");
	columns_append_end(writer->out, frame->module, COLUMNS_ANY);
	if (!frame->whole)
		buffer_printf(writer->out, "+0x%" PRIx64, frame->offset);
	if (frame->build_id)
		buffer_printf(writer->out, " (build ID %s)", frame->build_id);
	text_style_set(writer, STYLE_PLAIN);
}

static void stack_append_place(const struct text_writer *writer, const char *text, size_t used,
			       size_t name_column, bool is_line)
{
	columns_pad(writer->out, used, name_column);
	columns_pad(writer->out, 0, GAP);
	text_style_set(writer, is_line ? STYLE_CULPRIT : STYLE_QUIET);
	buffer_append_string(writer->out, text);
	text_style_set(writer, STYLE_PLAIN);
}

static void stack_named_frame(const struct text_writer *writer, const struct report_frame *frame,
			      size_t name_column, bool is_line)
{
	size_t width = writer->width, places = COLUMNS_ANY, used;
	struct buffer place = { 0 };

	if (width != COLUMNS_ANY) {
		width -= STACK_INDENT;
		places = width - name_column - GAP;
	}
	text_place_append(&place, frame, writer->paths, places);
	if (place.length && width != COLUMNS_ANY)
		width -= columns_of(place.data) + GAP;
	columns_pad(writer->out, 0, STACK_INDENT - 2);
	buffer_append_string(writer->out, is_line ? "> " : "  ");
	if (is_line)
		text_style_set(writer, STYLE_CULPRIT);
	used = text_place_append_name(writer->out, frame, width);
	if (is_line)
		text_style_set(writer, STYLE_PLAIN);
	if (place.length)
		stack_append_place(writer, place.data, used, name_column, is_line);
	if (writer->paths && frame->module)
		stack_append_module(writer, frame);
	buffer_append_string(writer->out, "\n");
	buffer_free(&place);
}

static void stack_frame(const struct text_writer *writer, const struct shown *shown, size_t index,
			size_t name_column)
{
	const struct report_frame *frame = &shown->frames[index];
	struct buffer remark = { 0 };

	if (frame->kind != FRAME_ERROR) {
		stack_named_frame(writer, frame, name_column, index == shown->line);
		return;
	}
	buffer_printf(&remark, "[stack cut short%s%s]", frame->function ? ": " : "",
		      frame->function ? frame->function : "");
	stack_remark(writer, remark.data);
	buffer_free(&remark);
}

/* What follows the frames that are shown. */
static void stack_rest(const struct text_writer *writer, const struct shown *shown,
		       struct stacks *stacks)
{
	size_t more = shown->count - shown->to;
	struct buffer remark = { 0 };

	if (!more)
		return;
	buffer_printf(&remark, "... %zu more frame%s", more, units_s(more));
	if (shown->common == more)
		buffer_printf(&remark, ", as in %zu", shown->common_rank);
	else if (shown->common)
		buffer_printf(&remark, ", the outer %zu as in %zu", shown->common,
			      shown->common_rank);
	if (more > shown->common && !stacks->explained) {
		buffer_printf(&remark, " (%s shows all)", writer->frames ? "--frames 0" : "-v");
		stacks->explained = true;
	}
	stack_remark(writer, remark.data);
	buffer_free(&remark);
}

/* With -v all that allocated for a row, which the table may not have room for. */
static void stack_via(const struct text_writer *writer, const struct report_site *site)
{
	struct buffer line = { 0 };

	if (!writer->verbose || !site->leaf_count)
		return;
	buffer_append_string(&line, "via ");
	text_place_append_via(&line, site, COLUMNS_ANY);
	stack_remark(writer, line.data);
	buffer_free(&line);
}

static void stack_write(const struct text_writer *writer, const struct report *report,
			const struct report_site *site, struct stacks *stacks)
{
	const struct shown shown = stack_choose(site, stacks);
	double born[LIFE_CLASSES];
	char remark[48];
	size_t i;

	stack_head(writer, report, site);
	stack_inside(writer, site);
	text_realloc(writer, site);
	if (report->options.estimates)
		text_budget_site(writer, report, site);
	else if (report->options.light)
		text_light_site(writer, site);
	else
		text_verdict_site(writer, report, site);
	if (!report->options.estimates)
		text_lives(writer, site, report_verdict_born(report, site, born) ? born : NULL);
	text_peak_site(writer, report, site);
	stack_via(writer, site);
	if (!shown.count && region_has_line(site->region) &&
	    (site->frames_hidden || site->function))
		stack_remark(writer,
			     site->frames_hidden ? "[all frames are hidden]" : "[no stack]");
	for (i = 0; i < shown.to; i++) {
		if (i == shown.inner && i < shown.from) {
			snprintf(remark, sizeof(remark), "... %zu more frame%s", shown.from - i,
				 units_s(shown.from - i));
			stack_remark(writer, remark);
		}
		if (stack_shows(&shown, i))
			stack_frame(writer, &shown, i, stacks->name_column);
	}
	stack_rest(writer, &shown, stacks);
}

/* What may have the names that a row lacks, unless a row before it has the same. `rank` 0 = its stack is above. */
static void stack_hint(const struct text_writer *writer, const char *hint, size_t rank,
		       struct stacks *stacks)
{
	size_t before = stacks->hints.by_hash.count;
	struct buffer line = { 0 };

	if (!strings_keep(&stacks->hints, hint) || stacks->hints.by_hash.count == before)
		return;
	if (rank)
		buffer_printf(&line, "%*zu  ", STACK_INDENT - 2, rank);
	else
		columns_pad(&line, 0, STACK_INDENT);
	buffer_append_string(&line, hint);
	text_style_set(writer, STYLE_QUIET);
	columns_wrap(writer->out, line.data, writer->width, STACK_INDENT + 2);
	writer->out->length--;
	text_style_set(writer, STYLE_PLAIN);
	buffer_append_string(writer->out, "\n");
	buffer_free(&line);
}

/* All stacks */

/* Only a row that is a whole process, function or module has nothing to show beyond the table. */
static bool stack_is_shown(const struct report *report, const struct report_site *site)
{
	if (!text_shows_site(report, site))
		return false;
	if (!region_has_line(site->region))
		return true;
	return site->origin->stack->count + site->by_line > 0 &&
	       !(site->origin->stack->count && site->origin->stack->frames[0].whole &&
		 !site->by_line);
}

static void stacks_add_names(struct stacks *stacks, const struct report_site *site)
{
	const struct shown shown = stack_choose(site, stacks);
	struct buffer scratch = { 0 };
	size_t width, i;

	for (i = 0; i < shown.to; i++) {
		if (!stack_shows(&shown, i) || shown.frames[i].kind == FRAME_ERROR)
			continue;
		width = text_place_append_name(&scratch, &shown.frames[i], COLUMNS_ANY);
		if (width > stacks->name_column)
			stacks->name_column = width;
	}
	buffer_free(&scratch);
}

/* The column that the function names need, within a bound. */
static void stacks_measure(const struct text_writer *writer, const struct report *report,
			   size_t limit, struct stacks *stacks)
{
	size_t widest = writer->width == COLUMNS_ANY ? NAME_COLUMN_MAX : writer->width / 2 - 1;
	struct report_site site;
	size_t i, shown = 0;

	for (i = 0; i < report->site_count && shown < limit; i++) {
		if (!stack_is_shown(report, &report->sites[i]))
			continue;
		site = report_open_site(report, i);
		stacks_add_names(stacks, &site);
		report_close_site(&site);
		shown++;
	}
	if (stacks->name_column > widest)
		stacks->name_column = widest;
}

static void stacks_close(struct stacks *stacks)
{
	size_t i;

	strings_free(&stacks->hints);
	for (i = 0; i < STACKS_SHOWN && i < stacks->count; i++)
		report_close_site(&stacks->sites[i]);
}

/* How much is shown. */
struct extent {
	size_t stacks, frames; /* frames of each stack */
	bool hints_of_others;
};

/* How many stacks, and how many frames of each, leave the report a screen if there are no remarks. */
static struct extent extent_guess(const struct text_writer *writer, size_t room)
{
	struct extent extent = { STACKS_SHOWN, RENDER_FRAMES_ALL, true };

	if (writer->frames)
		extent.frames = writer->frames;
	if (writer->verbose)
		extent.stacks = SIZE_MAX;
	if (writer->verbose || writer->frames)
		return extent;
	/* A stack has a line before its frames, and often one behind. */
	while (writer->lines && room && extent.stacks > 1 && room / extent.stacks < FRAMES_MIN + 2)
		extent.stacks--;
	extent.frames = room / extent.stacks > 2 ? room / extent.stacks - 2 : 0;
	if (extent.frames < FRAMES_MIN)
		extent.frames = FRAMES_MIN;
	if (extent.frames > FRAMES_MAX)
		extent.frames = FRAMES_MAX;
	return extent;
}

/* Show less. False if there is no less. */
static bool extent_lessen(struct extent *extent)
{
	if (extent->frames > FRAMES_MIN)
		extent->frames--;
	else if (extent->hints_of_others)
		extent->hints_of_others = false;
	else if (extent->stacks > 1)
		extent->stacks--;
	else
		return false;
	return true;
}

/* Write the stack of a site, and keep the site. */
static void stacks_add(const struct text_writer *writer, const struct report *report,
		       const struct report_site *site, struct stacks *stacks)
{
	struct report_site *to = &stacks->sites[stacks->count % STACKS_SHOWN];

	if (!stacks->count)
		buffer_append_string(writer->out, "\n");
	stack_write(writer, report, site, stacks);
	stack_hint(writer, site->hint, 0, stacks);
	if (stacks->count++ >= STACKS_SHOWN)
		report_close_site(to);
	*to = *site;
}

static void stacks_write(const struct text_writer *writer, const struct report *report,
			 const struct render_options *options, const struct extent *extent)
{
	struct stacks stacks = { .frames = extent->frames };
	struct report_site site;
	size_t i;

	stacks_measure(writer, report, extent->stacks, &stacks);
	for (i = 0; i < report->site_count && render_drain(options, writer->out); i++) {
		if (!stack_is_shown(report, &report->sites[i]))
			continue;
		site = report_open_site(report, i);
		if (stacks.count < extent->stacks) {
			stacks_add(writer, report, &site, &stacks);
			continue;
		}
		if (extent->hints_of_others)
			stack_hint(writer, site.hint, site.rank, &stacks);
		report_close_site(&site);
	}
	stacks_close(&stacks);
}

static size_t stacks_count_lines(const struct text_writer *writer, const struct report *report,
				 const struct extent *extent)
{
	static const struct render_options kept;
	struct buffer text = { 0 };
	struct text_writer to_count = *writer;
	size_t lines;

	to_count.out = &text;
	stacks_write(&to_count, report, &kept, extent);
	lines = text_count_lines(&text, 0);
	buffer_free(&text);
	return lines;
}

void text_stacks(const struct text_writer *writer, const struct report *report,
		 const struct render_options *options, size_t room)
{
	struct extent extent = extent_guess(writer, room);

	/* Remarks take lines that nobody can foresee. The empty line before the stacks is no part of the room. */
	if (writer->lines && !writer->verbose && !writer->frames)
		while (stacks_count_lines(writer, report, &extent) > room + 1 &&
		       extent_lessen(&extent))
			;
	stacks_write(writer, report, options, &extent);
}

void text_stack(const struct text_writer *writer, const struct report *report,
		const struct report_site *site)
{
	const size_t widest = writer->width == COLUMNS_ANY ? NAME_COLUMN_MAX
							   : writer->width / 2 - 1;
	struct stacks stacks = { .frames = writer->frames ? writer->frames : RENDER_FRAMES_ALL };

	stacks_add_names(&stacks, site);
	if (stacks.name_column > widest)
		stacks.name_column = widest;
	stack_write(writer, report, site, &stacks);
	if (site->hint)
		stack_hint(writer, site->hint, 0, &stacks);
	stacks_close(&stacks);
}
