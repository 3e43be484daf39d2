/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See notes.h. */
#include "render/notes.h"

#include <math.h>

#include "base/text.h"
#include "base/units.h"
#include "model/loss.h"

/* So many processes are named. */
#define PROCESSES_NAMED 8

struct notes {
	notes_take *take;
	void *context;
	struct buffer line;
};

/* Pass the line on, and begin the next one. */
static void notes_end_line(struct notes *notes)
{
	notes->take(notes->context, notes->line.data);
	buffer_clear(&notes->line);
}

/* What the figures are of. */
static void notes_subject(struct notes *notes, const struct report *report)
{
	char text[UNITS_TEXT_MAX];

	if (!report->options.is_lost)
		buffer_printf(&notes->line, "traced for %s; blocks from before are not known",
			      units_format_time(report->duration_ns, text));
	else if (report->options.lost_traced_ns)
		buffer_printf(&notes->line, "lost blocks; allocations were traced for %s before",
			      units_format_time(report->options.lost_traced_ns, text));
	else
		buffer_append_string(&notes->line,
				     "lost blocks; nothing was traced, so no stack is known");
}

static void notes_opening(struct notes *notes, const struct report *report)
{
	char text[UNITS_TEXT_MAX];
	size_t i;

	buffer_printf(&notes->line, "tracer %s: ", TRACER_VERSION);
	for (i = 0; i < report->target_count && i < PROCESSES_NAMED; i++) {
		buffer_append_string(&notes->line, i ? ", " : "");
		text_append_safe(&notes->line, report->targets[i]->comm);
		buffer_printf(&notes->line, " (%d)", report->targets[i]->pid);
	}
	if (i < report->target_count)
		buffer_printf(&notes->line, " and %s more",
			      units_format_count(report->target_count - i, text));
	buffer_append_string(&notes->line, report->target_count ? ", " : "");
	notes_subject(notes, report);
	notes_end_line(notes);
}

static void notes_limits(struct notes *notes, const struct report *report)
{
	char text[UNITS_TEXT_MAX];

	if (report->options.survived) {
		buffer_printf(&notes->line,
			      "only blocks that have outlived %s major garbage collection%s "
			      "count as in use",
			      units_format_count(report->options.survived, text),
			      units_s(report->options.survived));
		notes_end_line(notes);
	}
	if (report->options.min_age_ns) {
		buffer_printf(&notes->line, "only blocks that are at least %s old count as in use",
			      units_format_time(report->options.min_age_ns, text));
		notes_end_line(notes);
	}
}

static void notes_left_out(struct notes *notes, const struct report *report)
{
	char text[UNITS_TEXT_MAX];

	if (site_stats_hold(&report->left_out)) {
		buffer_printf(&notes->line, "left out by --only: %s in use",
			      units_format_size(site_stats_inuse_bytes(&report->left_out), text));
		notes_end_line(notes);
	}
	if (site_stats_hold(&report->ended)) {
		buffer_printf(&notes->line, "left out: %s that ended programs held at their ends",
			      units_format_size(site_stats_inuse_bytes(&report->ended), text));
		notes_end_line(notes);
	}
}

/* A number of bytes as whole ones, however large. */
static uint64_t notes_bytes(double bytes)
{
	return bytes > 0 ? bytes < 1e18 ? (uint64_t)(bytes + 0.5) : (uint64_t)1e18 : 0;
}

/* "~ cannot be attributed: 89.8 KiB per second (95 %: 81.2 KiB to 275.2 KiB)" */
static void notes_rest(struct notes *notes, const char *what, const struct estimate *rest)
{
	char value[UNITS_TEXT_MAX], low[UNITS_TEXT_MAX], high[UNITS_TEXT_MAX];

	if (!(rest->value >= 1))
		return;
	units_format_size(notes_bytes(rest->low), low);
	units_format_size(notes_bytes(rest->high), high);
	buffer_printf(&notes->line, "~ %s: %s per second (95 %%: %s to %s)", what,
		      units_format_size(notes_bytes(rest->value), value), low,
		      isfinite(rest->high) ? high : "any");
	notes_end_line(notes);
}

static void notes_estimates(struct notes *notes, const struct report *report)
{
	char text[UNITS_TEXT_MAX];

	if (report->options.estimates) {
		buffer_append_string(&notes->line,
				     "~ estimated from windows of tracing (--budget): what is in "
				     "use is what has been gained since tracing began");
		notes_end_line(notes);
		notes_rest(notes, "alive but written to", &report->options.estimates->written);
		notes_rest(notes, "cannot be attributed", &report->options.estimates->unknown);
	}
	if (report->options.light) {
		buffer_append_string(
			&notes->line,
			"frees were not traced (--light): what is in use was read from "
			"the heap");
		notes_end_line(notes);
	}
	if (report->sampled.alloc_objects && !report->options.estimates) {
		buffer_printf(&notes->line, "~ estimated from samples: %s of what is in use",
			      units_format_size(site_stats_inuse_bytes(&report->sampled), text));
		notes_end_line(notes);
	}
}

static void notes_losses(struct notes *notes, const struct report *report)
{
	char text[UNITS_TEXT_MAX];
	int loss;

	for (loss = 0; loss < LOSS_COUNT; loss++) {
		if (!report->loss[loss])
			continue;
		buffer_printf(&notes->line, "%s: %s %s",
			      loss_is_defect((enum loss)loss) ? "warning" : "note",
			      units_format_count(report->loss[loss], text),
			      loss_sentence((enum loss)loss));
		notes_end_line(notes);
	}
}

void notes_of_report(const struct report *report, notes_take *take, void *context)
{
	struct notes notes = { .take = take, .context = context };

	notes_opening(&notes, report);
	notes_limits(&notes, report);
	notes_left_out(&notes, report);
	notes_estimates(&notes, report);
	notes_losses(&notes, report);
	buffer_free(&notes.line);
}

void notes_of_difference(const struct difference *difference, notes_take *take, void *context)
{
	struct notes notes = { .take = take, .context = context };
	size_t i;

	buffer_printf(&notes.line, "tracer %s: what has grown from ", TRACER_VERSION);
	for (i = 0; i < difference->profile_count; i++) {
		buffer_append_string(&notes.line, i ? " to " : "");
		text_append_safe(&notes.line, difference->profiles[i]->name);
	}
	notes_end_line(&notes);
	buffer_free(&notes.line);
}
