/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lost blocks as text: how many of which kind, how certain that is, and the blocks by what they are. */
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "render/leaks.h"
#include "render/text_place.h"
#include "render/text_style.h"

#define LABEL_WIDTH 16
#define FRAMES_SHOWN 12
#define FRAME_INDENT 6
#define FRAME_GAP 2

/* What is called lost depends on what was seen. */
static const char *leaks_word(const struct leak_report *report)
{
	return leak_report_is_proof(report)	? "definitely lost"
	       : leak_report_is_partial(report) ? "probably lost"
						: "lost";
}

static void leaks_text_opening(const struct text_writer *writer, const struct leak_report *report)
{
	char blocks[UNITS_TEXT_MAX], size[UNITS_TEXT_MAX];
	struct leak_sum all = { 0 };
	struct buffer line = { 0 };
	size_t i;

	for (i = 0; i < LEAK_VERDICTS; i++) {
		all.blocks += report->sums[i].blocks;
		all.bytes += report->sums[i].bytes;
	}
	buffer_printf(&line, "%s (%d): %s block%s of malloc, %s", report->comm, (int)report->pid,
		      units_format_count(all.blocks, blocks), units_s(all.blocks),
		      units_format_size(all.bytes, size));
	text_style_set(writer, STYLE_STRONG);
	columns_append_start(writer->out, line.data, writer->width);
	text_style_set(writer, STYLE_PLAIN);
	buffer_append_string(writer->out, "\n\n");
	buffer_free(&line);
}

static void leaks_text_sum(const struct text_writer *writer, const char *label,
			   const struct leak_sum *sum, const char *note)
{
	char blocks[UNITS_TEXT_MAX], size[UNITS_TEXT_MAX];

	buffer_printf(writer->out, "  %-*s %11s block%s %10s%s%s\n", LABEL_WIDTH, label,
		      units_format_count(sum->blocks, blocks), sum->blocks == 1 ? " " : "s",
		      units_format_size(sum->bytes, size), *note ? "  " : "", note);
}

/* Of what is reachable: where from, and what only a heuristic has reached. */
static void leaks_text_reachable(const struct text_writer *writer, const struct leak_report *report)
{
	char note[64];
	size_t i;

	leaks_text_sum(writer, "still reachable", &report->sums[LEAK_REACHABLE], "");
	for (i = 0; i < LEAK_ROOTS; i++)
		if (report->roots[i].blocks)
			leaks_text_sum(writer, "", &report->roots[i],
				       leak_root_title((enum leak_root)i));
	for (i = 0; i < LEAK_HEURISTICS; i++) {
		snprintf(note, sizeof(note), "of these by a heuristic: %s",
			 leak_heuristic_name((enum leak_heuristic)i));
		if (report->heuristics[i].blocks)
			leaks_text_sum(writer, "", &report->heuristics[i], note);
	}
}

static void leaks_text_sums(const struct text_writer *writer, const struct leak_report *report)
{
	const struct leak_sum *sums = report->sums;

	if (sums[LEAK_DEFINITE].blocks)
		text_style_set(writer, STYLE_WARNING);
	leaks_text_sum(writer, leaks_word(report), &sums[LEAK_DEFINITE], "");
	if (sums[LEAK_INDIRECT].blocks)
		leaks_text_sum(writer, "  through these", &sums[LEAK_INDIRECT], "");
	text_style_set(writer, STYLE_PLAIN);
	leaks_text_sum(writer, "possibly lost", &sums[LEAK_POSSIBLE],
		       sums[LEAK_POSSIBLE].blocks ? "only hints lead to them" : "");
	if (sums[LEAK_STALE].blocks)
		leaks_text_sum(writer, "stale", &sums[LEAK_STALE], "only old words lead to them");
	if (sums[LEAK_UNJUDGED].blocks)
		leaks_text_sum(writer, "not judged", &sums[LEAK_UNJUDGED], "new, or on the move");
	if (report->suppressed.blocks)
		leaks_text_sum(writer, "suppressed", &report->suppressed, "");
	if (report->left_out.blocks)
		leaks_text_sum(writer, "left out", &report->left_out, "not through the module");
	leaks_text_reachable(writer, report);
	buffer_append_string(writer->out, "\n");
}

static const char *leaks_text_moment(const struct leak_report *report)
{
	if (report->is_quiet && report->is_ending)
		return "the process was stopped where it ends, so this is one moment.";
	if (report->is_quiet)
		return "no thread ran in the last one, so it saw one moment.";
	/* A remark has how long. */
	if (report->pause_ns)
		return "the process ran meanwhile.";
	return "the process ran meanwhile, and was not stopped.";
}

/* How certain it is, and why not more so. */
static void leaks_text_evidence(const struct text_writer *writer, const struct leak_report *report)
{
	char size[UNITS_TEXT_MAX], time[UNITS_TEXT_MAX];
	struct buffer line = { 0 };

	buffer_printf(&line, "%u pass%s over %s in %s: ", report->passes,
		      report->passes == 1 ? "" : "es",
		      units_format_size(report->present_bytes, size),
		      units_format_time(report->duration_ns, time));
	if (report->is_paused)
		buffer_printf(&line,
			      "the process was stopped for %s in the last one, which saw one "
			      "moment.",
			      units_format_time(report->pause_ns, time));
	else
		buffer_append_string(&line, leaks_text_moment(report));
	if (report->is_traced)
		buffer_printf(&line, " Allocations were traced for %s before.",
			      units_format_time(report->traced_ns, time));
	if (report->swapped_bytes)
		buffer_printf(&line,
			      " %s are swapped out and were not read: they may hold pointers.",
			      units_format_size(report->swapped_bytes, size));
	if (report->pages_unknown)
		buffer_append_string(&line, " Of some mappings it is not known what is in memory.");
	if (report->is_restless)
		buffer_append_string(&line,
				     " Passes did not agree yet: some blocks may be on the move.");
	if (report->frees_unknown)
		buffer_append_string(
			&line, " Lists of malloc changed each time: some blocks may be free.");
	if (!report->has_registers)
		buffer_append_string(&line, " The registers of threads are not known, or not all.");
	columns_wrap(writer->out, line.data, writer->width, 0);
	buffer_free(&line);
}

static const char *leaks_text_verdict(const struct leak_report *report,
				      const struct leak_group *group)
{
	return group->verdict == LEAK_POSSIBLE ? "possibly lost" : leaks_word(report);
}

/* The column of the places behind the names. */
static size_t leaks_text_name_column(const struct text_writer *writer,
				     const struct leak_group *group, size_t shown)
{
	size_t widest = writer->width == COLUMNS_ANY ? COLUMNS_ANY : writer->width / 2 - 1;
	struct buffer scratch = { 0 };
	size_t i, width, column = 0;

	for (i = 0; i < shown; i++) {
		width = text_place_append_name(&scratch, &group->frames[i], widest);
		column = width > column ? width : column;
	}
	buffer_free(&scratch);
	return column;
}

static void leaks_text_frame(const struct text_writer *writer, const struct report_frame *frame,
			     size_t column)
{
	bool is_bounded = writer->width != COLUMNS_ANY;
	struct buffer place = { 0 };
	size_t used;

	columns_pad(writer->out, 0, FRAME_INDENT);
	used = text_place_append_name(writer->out, frame, is_bounded ? column : COLUMNS_ANY);
	text_place_append(&place, frame, writer->paths,
			  is_bounded ? writer->width - FRAME_INDENT - column - FRAME_GAP
				     : COLUMNS_ANY);
	if (place.length) {
		columns_pad(writer->out, used, column + FRAME_GAP);
		text_style_set(writer, STYLE_QUIET);
		buffer_append_string(writer->out, place.data);
		text_style_set(writer, STYLE_PLAIN);
	}
	buffer_append_string(writer->out, "\n");
	buffer_free(&place);
}

static void leaks_text_stack(const struct text_writer *writer, const struct leak_group *group)
{
	size_t most = writer->frames ? writer->frames : FRAMES_SHOWN;
	size_t i, column, shown = writer->verbose && !writer->frames ? group->frame_count : most;

	if (shown > group->frame_count)
		shown = group->frame_count;
	column = leaks_text_name_column(writer, group, shown);
	for (i = 0; i < shown; i++)
		leaks_text_frame(writer, &group->frames[i], column);
	if (shown < group->frame_count)
		buffer_printf(writer->out, "%*s... %zu more frame%s (--frames 0 shows all)\n",
			      FRAME_INDENT, "", group->frame_count - shown,
			      units_s(group->frame_count - shown));
}

/* "3 blocks of 48"; "3 blocks" of several sizes. */
static void leaks_text_blocks(struct buffer *line, const struct leak_group *group)
{
	char blocks[UNITS_TEXT_MAX], size[UNITS_TEXT_MAX], each[UNITS_TEXT_MAX];

	buffer_printf(line, "%s in %s block%s", units_format_size(group->own.bytes, size),
		      units_format_count(group->own.blocks, blocks), units_s(group->own.blocks));
	if (group->size)
		buffer_printf(line, " of %s", units_format_count(group->size, each));
}

/* "; before: 3 were reachable, 2 new" is of a row and of what is lost only through it. */
static void leaks_text_before(struct buffer *line, const struct leak_report *report,
			      const struct leak_sum sums[LEAK_BEFORES])
{
	const char *lead = "; before, ";
	char blocks[UNITS_TEXT_MAX];
	size_t i;

	for (i = 0; report->has_before && i < LEAK_BEFORES; i++) {
		if (!sums[i].blocks)
			continue;
		buffer_printf(line, "%s%s %s %s", lead, units_format_count(sums[i].blocks, blocks),
			      sums[i].blocks == 1 ? "was" : "were",
			      leak_before_words((enum leak_before)i));
		lead = ", ";
	}
}

/* What is lost was at the look before. */
static void leaks_text_since(const struct text_writer *writer, const struct leak_report *report)
{
	char time[UNITS_TEXT_MAX], blocks[UNITS_TEXT_MAX], size[UNITS_TEXT_MAX];
	int64_t seconds = report->wall_time - report->before_time;
	struct leak_sum sums[LEAK_BEFORES];
	const char *lead = " ";
	struct buffer line = { 0 };
	size_t i;

	if (!report->has_before)
		return;
	leak_report_sum_before(report, sums);
	buffer_printf(&line, "At the look before, %s ago, of what is %s now",
		      units_format_time(seconds > 0 ? (uint64_t)seconds * 1000000000ull : 0, time),
		      leaks_word(report));
	for (i = 0; i < LEAK_BEFORES; i++) {
		if (!sums[i].blocks)
			continue;
		buffer_printf(&line, "%s%s block%s of %s w%s %s", lead,
			      units_format_count(sums[i].blocks, blocks), units_s(sums[i].blocks),
			      units_format_size(sums[i].bytes, size),
			      sums[i].blocks == 1 ? "as" : "ere",
			      leak_before_words((enum leak_before)i));
		lead = ", ";
	}
	buffer_append_string(&line, *lead == ' ' ? ": nothing." : ".");
	columns_wrap(writer->out, line.data, writer->width, 0);
	buffer_free(&line);
}

static void leaks_text_group(const struct text_writer *writer, const struct leak_report *report,
			     const struct leak_group *group, size_t rank)
{
	char blocks[UNITS_TEXT_MAX], size[UNITS_TEXT_MAX];
	struct buffer line = { 0 };

	buffer_printf(&line, "#%zu ", rank);
	leaks_text_blocks(&line, group);
	buffer_printf(&line, ", %s", leaks_text_verdict(report, group));
	if (*group->kind)
		buffer_printf(&line, ": %s%s%s", group->kind, *group->name ? " " : "", group->name);
	if (group->function)
		buffer_printf(&line, ", by %s", group->function);
	if (group->indirect.blocks)
		buffer_printf(&line, "; and %s in %s block%s only through %s",
			      units_format_size(group->indirect.bytes, size),
			      units_format_count(group->indirect.blocks, blocks),
			      units_s(group->indirect.blocks),
			      group->own.blocks == 1 ? "it" : "them");
	if (*group->note)
		buffer_printf(&line, "; %s", group->note);
	leaks_text_before(&line, report, group->before);
	columns_wrap(writer->out, line.data, writer->width, 4);
	leaks_text_stack(writer, group);
	buffer_free(&line);
}

static void leaks_text_groups(const struct text_writer *writer, const struct leak_report *report,
			      size_t top)
{
	size_t i, shown = top && top < report->group_count ? top : report->group_count;

	if (shown)
		buffer_append_string(writer->out, "\n");
	for (i = 0; i < shown; i++)
		leaks_text_group(writer, report, &report->groups[i], i + 1);
	if (shown < report->group_count)
		buffer_printf(writer->out, "%zu more group%s (-n 0 shows all)\n",
			      report->group_count - shown, units_s(report->group_count - shown));
}

static void leaks_text_remarks(const struct text_writer *writer, const struct leak_report *report)
{
	const char *at = report->remarks.data, *end;
	struct buffer line = { 0 };

	for (; at && *at; at = *end ? end + 1 : end) {
		end = at + strcspn(at, "\n");
		buffer_clear(&line);
		buffer_append(&line, at, (size_t)(end - at));
		columns_wrap(writer->out, line.data, writer->width, 2);
	}
	buffer_free(&line);
}

static size_t leaks_text_width(const struct render_options *options)
{
	size_t width = options->columns ? options->columns : RENDER_COLUMNS;

	return width < TEXT_COLUMNS_MIN ? TEXT_COLUMNS_MIN : width;
}

void render_leaks_text(const struct leak_report *report, const struct render_leaks_options *options,
		       struct buffer *out)
{
	const struct text_writer writer = {
		.out = out,
		.color = options->base.color,
		.width = options->base.paths ? COLUMNS_ANY : leaks_text_width(&options->base),
		.frames = options->base.frames,
		.verbose = options->base.verbose,
		.paths = options->base.paths,
	};

	if (report->who) {
		render_leaks_who_text(report, options, out);
		leaks_text_remarks(&writer, report);
		return;
	}
	leaks_text_opening(&writer, report);
	leaks_text_sums(&writer, report);
	leaks_text_evidence(&writer, report);
	leaks_text_since(&writer, report);
	leaks_text_remarks(&writer, report);
	leaks_text_groups(&writer, report, options->top);
}
