/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of the text format: how much of what happened the figures cover, and the summary line that tools
 * know from jemalloc. Every counter that is not zero is printed with its sentence.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/units.h"
#include "model/loss.h"
#include "render/columns.h"
#include "render/text_parts.h"

#define LATE_PATH_COLUMNS 32

static void text_loss(const struct text_writer *writer, const struct report *report, enum loss loss)
{
	char count[UNITS_TEXT_MAX];
	struct buffer line = { 0 };

	/* The coverage line has it. */
	if (!report->loss[loss] || loss == LOSS_FREE_UNTRACKED)
		return;
	buffer_printf(&line, "%s: %s %s", loss_is_defect(loss) ? "warning" : "note",
		      units_format_count(report->loss[loss], count), loss_sentence(loss));
	text_style_set(writer, loss_is_defect(loss) ? STYLE_WARNING : STYLE_QUIET);
	columns_wrap(writer->out, line.data, writer->width, 2);
	writer->out->length--;
	text_style_set(writer, STYLE_PLAIN);
	buffer_append_string(writer->out, "\n");
	buffer_free(&line);
}

/* " (NAME COUNT, ...)" of the losses of a kind. */
static void text_append_losses(const struct report *report, enum loss_kind kind,
			       struct buffer *line)
{
	char count[UNITS_TEXT_MAX];
	const char *separator = " (";
	int loss;

	for (loss = 0; loss < LOSS_COUNT; loss++) {
		if (loss_kind((enum loss)loss) != kind || !report->loss[loss])
			continue;
		buffer_printf(line, "%s%s %s", separator, loss_name((enum loss)loss),
			      units_format_count(report->loss[loss], count));
		separator = ", ";
	}
	buffer_append_string(line, ")");
}

static void text_append_dropped(const struct report *report, struct buffer *line)
{
	uint64_t dropped = report_calls_dropped(report);
	char count[UNITS_TEXT_MAX];

	buffer_printf(line, ", %s dropped", units_format_count(dropped, count));
	if (dropped)
		text_append_losses(report, LOSS_KIND_CALL, line);
}

static void text_append_stacks(const struct report *report, struct buffer *line)
{
	char count[UNITS_TEXT_MAX];
	uint64_t partial = 0;
	int loss;

	for (loss = 0; loss < LOSS_COUNT; loss++)
		if (loss_kind((enum loss)loss) == LOSS_KIND_STACK)
			partial += report->loss[loss];
	if (!partial)
		return;
	buffer_printf(line, "; %s truncated stack%s", units_format_count(partial, count),
		      units_s(partial));
	text_append_losses(report, LOSS_KIND_STACK, line);
}

static void text_coverage_line(const struct text_writer *writer, const struct report *report)
{
	uint64_t untracked = report->loss[LOSS_FREE_UNTRACKED];
	uint64_t unattributed = report->loss[LOSS_BYTES_UNATTRIBUTED];
	char text[UNITS_TEXT_MAX];
	struct buffer line = { 0 };

	buffer_printf(&line, "coverage: %s call%s seen",
		      units_format_count(report_calls_seen(report), text),
		      units_s(report_calls_seen(report)));
	if (report->recorded.samples)
		buffer_printf(&line, " and %s sample%s",
			      units_format_count(report->recorded.samples, text),
			      units_s(report->recorded.samples));
	text_append_dropped(report, &line);
	buffer_printf(&line, ", %s byte%s unattributed", units_format_count(unattributed, text),
		      units_s(unattributed));
	if (untracked)
		buffer_printf(&line,
			      "; %s free%s of unknown blocks (from before the attach, filtered out "
			      "or lost)",
			      units_format_count(untracked, text), units_s(untracked));
	text_append_stacks(report, &line);
	columns_wrap(writer->out, line.data, writer->width, 2);
	buffer_free(&line);
}

static void text_append_late_file(struct buffer *line, const struct late_file *file,
				  const struct target *target)
{
	char time[UNITS_TEXT_MAX];

	buffer_append_string(line, "late: ");
	columns_append_end(line, file->path, LATE_PATH_COLUMNS);
	buffer_printf(line, " in process %d, by %s", target->pid,
		      units_format_time(file->ns, time));
}

/* The file that was probed latest, and the process that ran longest without probes: how bad it was. */
static void text_late_line(const struct text_writer *writer, const struct report *report)
{
	const struct target *file_of = NULL, *child = NULL;
	const struct late_file *worst = NULL, *file;
	char time[UNITS_TEXT_MAX];
	struct buffer line = { 0 };
	size_t i;

	for (i = 0; i < report->target_count; i++) {
		const struct target *target = report->targets[i];

		file = lateness_worst_file(target->late);
		if (file && (!worst || file->ns > worst->ns)) {
			worst = file;
			file_of = target;
		}
		if (target->late && target->late->child_ns &&
		    (!child || target->late->child_ns > child->late->child_ns))
			child = target;
	}
	if (worst)
		text_append_late_file(&line, worst, file_of);
	if (child)
		buffer_printf(&line, "%sprocess %d as a whole, by %s",
			      worst ? "; " : "late: ", child->pid,
			      units_format_time(child->late->child_ns, time));
	if (line.length)
		columns_wrap(writer->out, line.data, writer->width, 2);
	buffer_free(&line);
}

/* What it forgets to close, a process often forgets to free: the one that has opened most. */
static void text_files_line(const struct text_writer *writer, const struct report *report)
{
	const struct target *most = NULL;
	char count[UNITS_TEXT_MAX], grown[UNITS_TEXT_MAX];
	struct buffer line = { 0 };
	size_t i, others = 0;

	for (i = 0; i < report->target_count; i++) {
		const struct target *target = report->targets[i];

		others += target_files_grown(target) > 0;
		if (target_files_grown(target) > (most ? target_files_grown(most) : 0))
			most = target;
	}
	if (!most)
		return;
	others--;
	buffer_append_string(&line, "open files: ");
	if (report->target_count > 1) {
		columns_append_start(&line, most->comm, COMM_MAX);
		buffer_printf(&line, " (%d) has ", most->pid);
	}
	buffer_printf(&line, "%s, %s more than at the attach",
		      units_format_count(most->files, count),
		      units_format_count(target_files_grown(most), grown));
	if (others)
		buffer_printf(&line, "; %s other process%s more, too",
			      units_format_count(others, count), others == 1 ? " has" : "es have");
	columns_wrap(writer->out, line.data, writer->width, 2);
	buffer_free(&line);
}

static void text_summary(const struct text_writer *writer, const struct report *report)
{
	uint64_t bytes = site_stats_inuse_bytes(&report->totals);
	uint64_t objects = site_stats_inuse_objects(&report->totals);
	size_t contexts = report->sites_in_use;
	char exact[UNITS_TEXT_MAX], size[UNITS_TEXT_MAX];
	const char *amounts[] = { exact, units_format_size(bytes, size) };
	struct buffer line = { 0 };
	size_t i;

	snprintf(exact, sizeof(exact), "%" PRIu64 " byte%s", bytes, units_s(bytes));
	for (i = 0; i < 2; i++) {
		buffer_clear(&line);
		buffer_printf(&line,
			      "Leak approximation summary: ~%s, ~%" PRIu64
			      " object%s, >= %zu context%s",
			      amounts[i], objects, units_s(objects), contexts, units_s(contexts));
		if (line.length <= writer->width)
			break;
	}
	columns_wrap(writer->out, line.data, writer->width, 2);
	buffer_free(&line);
}

static void text_losses(const struct text_writer *writer, const struct report *report, bool defects)
{
	int loss;

	for (loss = 0; loss < LOSS_COUNT; loss++)
		if (loss_is_defect((enum loss)loss) == defects)
			text_loss(writer, report, (enum loss)loss);
}

void text_coverage(const struct text_writer *writer, const struct report *report)
{
	text_losses(writer, report, true);
	text_losses(writer, report, false);
	text_late_line(writer, report);
	if (report->options.estimates)
		text_budget(writer, report);
	else
		text_coverage_line(writer, report);
	if (report->options.light)
		text_light(writer, report->options.light);
	if (report->options.history)
		text_verdict(writer, report);
	text_files_line(writer, report);
	text_summary(writer, report);
}
