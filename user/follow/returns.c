/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See returns.h. */
#include "follow/returns.h"

#include <string.h>

#include "decode/decoder.h"

/*
 * Can a call have no return probe that the program at its entry declines? Only session probes decline. Of the links for single
 * processes those for other ones do not, even if that process has ended and they are not closed yet.
 */
static bool returns_are_certain(const struct returns *returns)
{
	return returns->probes->how.backend != BACKEND_KERNEL_SESSION ||
	       (!returns->probes->machine_wide && returns->processes->count > 1);
}

/*
 * A probe for all processes is in a program that has just been executed, before anything is known of that program: it may
 * switch stacks at once.
 */
static bool returns_come_first(const struct returns *returns)
{
	return returns->probes->machine_wide && returns_are_certain(returns);
}

void returns_note(const struct returns *returns)
{
	struct plan_options *options = &returns->probes->files->plan.options;

	options->avoid_switching |= returns_are_certain(returns);
	options->no_return_probes |= returns_come_first(returns);
}

static void returns_log(const struct returns *returns, const struct process *process)
{
	const struct plan *plan = &returns->probes->files->plan;
	const struct target *target = &process->target;

	if (plan->walker)
		log_write(returns->log, LOG_NOTICE,
			  "%s walks stacks in process %d (%s): results are read at return "
			  "instructions from now on, which costs more",
			  plan->walker, target->pid, target->comm);
	else
		log_write(returns->log, LOG_NOTICE,
			  "%s may switch stacks (%s), which could end it where returns are "
			  "probed: results are read at return instructions from process %d (%s) "
			  "on, which costs more",
			  plan->switching, plan->switches_by, target->pid, target->comm);
}

/* Does the plan read a result of a file by a return probe? */
static bool returns_are_in(const struct plan *plan, const struct planned_file *file)
{
	size_t i;

	for (i = 0; i < file->count; i++)
		if (plan_probe_returns(&plan->probes[file->first + i]))
			return true;
	return false;
}

/* Add results that cannot be read at exits to the plan's skipped entries, each once. */
static void returns_take_skips(struct plan *plan, const struct plan *exits)
{
	size_t i, j, known = plan->skipped_count;

	for (i = 0; i < exits->skipped_count; i++) {
		for (j = 0; j < known; j++)
			if (!strcmp(plan->skipped[j].sentence, exits->skipped[i].sentence))
				break;
		if (j == known)
			plan_add_skip(plan, exits->skipped[i].lost, exits->skipped[i].sentence);
	}
}

/* Plan a file anew. Returns how many of its probes are in already: they are the first. */
static size_t returns_turn(struct planned_files *files, struct planned_file *file)
{
	struct plan *plan = &files->plan, exits;
	size_t first = plan->count, kept;
	int code;

	plan_init(&exits, plan->modules, &plan->options);
	exits.walker = plan->walker;
	exits.switching = plan->switching;
	exits.has_samplers = plan->has_samplers;
	code = decoder_plan(files->decoder, &exits, file->module);
	if (code)
		plan_skip(&exits, file->module, true,
			  "its return instructions cannot be found any more: %s", strerror(-code));
	kept = plan_turn(plan, file->first, file->count, &exits);
	returns_take_skips(plan, &exits);
	plan_free(&exits);
	file->first = first;
	file->count = plan->count - first;
	return kept - first;
}

/*
 * The new probes are in before the old ones are taken out: a call that both see is recorded once,
 * since the second entry is at the frame of the first. A call that is pending now, and was seen by
 * the old ones only, counts as a return that did not come. Links of processes that have ended are
 * consumers, too, until they are closed.
 */
void returns_give_up(struct returns *returns, const struct process *process)
{
	struct planned_files *files = returns->probes->files;
	size_t i, kept;

	returns_note(returns);
	if (returns->given_up || files->plan.options.no_return_probes ||
	    !plan_avoids_returns(&files->plan))
		return;
	returns->given_up = true;
	returns_log(returns, process);
	for (i = 0; i < files->count; i++) {
		if (!returns_are_in(&files->plan, &files->items[i]))
			continue;
		kept = returns_turn(files, &files->items[i]);
		probe_set_add_planned(returns->probes, &files->items[i], kept);
	}
	probe_set_close_calls(returns->probes);
}
