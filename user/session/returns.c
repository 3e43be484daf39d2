/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes in which return probes do harm: they have a stack walker, or may switch stacks where a return probe cannot be declined.
 * The kernel takes one for each link at the same instruction that asks for it, even if the link is for another process. So
 * once there is such a process, the results of all are read at return instructions.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "decode/decoder.h"
#include "probe/walker.h"
#include "session/parts.h"
#include "system/proc.h"
#include "system/process_memory.h"

/* As much of an environment as is looked at. */
#define ENVIRONMENT_MAX (128u << 10)

/*
 * Can a call have no return probe that the program at its entry declines? Only session probes decline. Of the links for single
 * processes those for other ones do not, even if that process has ended and they are not closed yet.
 */
static bool returns_are_certain(const struct session *session)
{
	return session->backend != BACKEND_KERNEL_SESSION ||
	       (!session_is_machine_wide(session) && session->process_count > 1);
}

/* Some allocators walk stacks if the environment asks for it. A process may make a read of /proc/PID/environ last for ever. */
static void returns_seek_walker(struct session *session, const struct process *process)
{
	pid_t pid = process->target.pid;
	uint64_t start, end;
	ssize_t size;
	char *text;

	if (session->plan.walker || !session->plan.options.seek_walkers ||
	    proc_read_environment_range("/proc", pid, &start, &end))
		return;
	if (end - start > ENVIRONMENT_MAX)
		end = start + ENVIRONMENT_MAX;
	text = memory_alloc(1, end - start);
	size = process_memory_read_present(pid, start, text, end - start);
	if (size > 0)
		session->plan.walker = walker_of_environment(text, (size_t)size);
	free(text);
}

void session_seek_dangers(struct session *session, const struct process *process)
{
	session->plan.options.avoid_switching |= returns_are_certain(session);
	returns_seek_walker(session, process);
}

static void returns_say(const struct session *session, const struct process *process)
{
	const struct plan *plan = &session->plan;
	const struct target *target = &process->target;

	if (plan->walker)
		log_write(session->options.log, LOG_NOTICE,
			  "%s walks stacks in process %d (%s): results are read at return "
			  "instructions from now on, which costs more",
			  plan->walker, target->pid, target->comm);
	else
		log_write(session->options.log, LOG_NOTICE,
			  "%s may switch stacks (%s), which could end it where returns are "
			  "probed: results are read at return instructions from process %d (%s) "
			  "on, which costs more",
			  plan->switching, plan->switches_by, target->pid, target->comm);
}

/* Does the plan read a result of a file by a return probe? */
static bool returns_are_in(const struct session *session, const struct planned_file *file)
{
	size_t i;

	for (i = 0; i < file->count; i++)
		if (plan_probe_returns(&session->plan.probes[file->first + i]))
			return true;
	return false;
}

/* What cannot be read in the new way is said, as far as it has not been. */
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
static size_t returns_turn(struct session *session, struct planned_file *file)
{
	struct plan *plan = &session->plan, exits;
	size_t first = plan->count, kept;
	int code;

	plan_init(&exits, plan->modules, &plan->options);
	exits.walker = plan->walker;
	exits.switching = plan->switching;
	exits.has_samplers = plan->has_samplers;
	code = decoder_plan(session->options.decoder, &exits, file->module);
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

/* Put the new probes of a file into a process; NULL = into all. */
static void returns_attach(struct session *session, const struct planned_file *file, size_t kept,
			   struct process *process)
{
	struct attachment *attachment = &session->attachment;
	struct attach_point *points = session_points(session, file, process);
	struct attach_how how = session_how(session);
	struct error error = { 0 };
	size_t i;
	int code;

	if (process)
		attachment = &session->slots[session_process_index(session, process)].attachment;
	code = attach_file(
		attachment, &how, module_list_get(session->options.modules, file->module)->fd,
		process ? process->target.pid : 0, points + kept, file->count - kept, &error);
	for (i = kept; i < file->count; i++)
		session->plan.probes[file->first + i].refused |= points[i].refused;
	if (code && code != -ESRCH)
		log_write(session->options.log, LOG_NOTICE, "%s", error.text);
	free(points);
}

static void returns_turn_file(struct session *session, struct planned_file *file)
{
	size_t kept = returns_turn(session, file), i;

	for (i = 0; i < session->probed_count && file->count > kept; i++) {
		struct probed_file *probed = &session->probed[i];

		if (probed->module == file->module && !probed->failed &&
		    !(probed->process && probed->process->target.exited))
			returns_attach(session, file, kept, probed->process);
	}
}

/*
 * The new probes are in before the old ones are taken out: a call that both see is recorded once, since the second entry is at the
 * frame of the first. A call that is pending now, and was seen by the old ones only, counts as a return that did not come.
 * Links of processes that have ended are consumers, too, until they are closed.
 */
void session_give_up_returns(struct session *session, const struct process *process)
{
	size_t i;

	session->plan.options.avoid_switching |= returns_are_certain(session);
	if (session->gave_up_returns || session->plan.options.no_return_probes ||
	    !plan_avoids_returns(&session->plan))
		return;
	session->gave_up_returns = true;
	returns_say(session, process);
	for (i = 0; i < session->file_count; i++)
		if (returns_are_in(session, &session->files[i]))
			returns_turn_file(session, &session->files[i]);
	for (i = 0; i < session->process_count; i++)
		attachment_close_calls(&session->slots[i].attachment);
	attachment_close_calls(&session->attachment);
	closer_wait(session->closer);
}
