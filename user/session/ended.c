/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What ended programs held, if the user wants to see it: rows that do not change any more. The kernel's tables and the
 * places of the processes are free for others meanwhile.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/parts.h"

void session_keep_program(struct session *session, struct process *process, uint64_t time_ns)
{
	struct ended_program *ended;

	if (!session->options.keep_exited)
		return;
	session->ended = memory_grow(session->ended, session->ended_count, &session->ended_capacity,
				     sizeof(*session->ended));
	ended = &session->ended[session->ended_count++];
	*ended = (struct ended_program){ .process = process, .until_ns = time_ns };
	/* The process itself runs another program, or makes way for another one: its lateness is of the one that has ended. */
	ended->target = target_copy(&process->target);
	ended->target->exited = true;
	lateness_free(process->target.late);
	process->target.late = NULL;
}

/* The program that made a site: of those of its process, the first that ended later. */
static struct ended_program *session_program_of(const struct session *session,
						const struct known_site *site)
{
	size_t i;

	for (i = 0; i < session->ended_count; i++)
		if (session->ended[i].process == site->process &&
		    site->record.first_ns < session->ended[i].until_ns)
			return &session->ended[i];
	return NULL;
}

/* Keep a row of a program; returns its index. */
static size_t session_add_ended(struct session *session, struct ended_program *program,
				const struct snapshot_site *row, uint32_t function)
{
	struct ended_site *kept;

	session->ended_sites = memory_grow(session->ended_sites, session->ended_site_count,
					   &session->ended_site_capacity,
					   sizeof(*session->ended_sites));
	kept = &session->ended_sites[session->ended_site_count];
	*kept = (struct ended_site){ .row = *row, .function = function };
	kept->row.function = NULL;
	kept->row.target = program->target;
	kept->row.ended = true;
	program->has_sites = true;
	return session->ended_site_count++;
}

/*
 * Sites that hold nothing are one row, whatever their stacks: a program leaves so many that they would be most of what is
 * remembered, but what they have allocated and freed belongs into the sums.
 */
static void session_add_rest(struct session *session, struct ended_program *program,
			     const struct snapshot_site *row)
{
	size_t *rest = &program->rest[row->source][row->sampled];
	struct snapshot_site empty = { .source = row->source, .sampled = row->sampled };
	struct snapshot_site *sum;

	if (!*rest) {
		empty.stack = memory_alloc(1, sizeof(struct stack));
		*rest = session_add_ended(session, program, &empty, ENDED_SEVERAL) + 1;
	}
	sum = &session->ended_sites[*rest - 1].row;
	site_stats_add(&sum->stats, &row->stats);
}

void session_keep_site(struct session *session, struct known_site *site,
		       const struct snapshot_site *row)
{
	struct ended_program *program = session_program_of(session, site);

	if (!program || !row->stats.alloc_objects)
		return;
	if (row->stats.alloc_objects == row->stats.free_objects) {
		session_add_rest(session, program, row);
		return;
	}
	session_add_ended(session, program, row, site->record.function);
	site->stack = NULL;
}

struct snapshot_site session_ended_row(const struct session *session, size_t index)
{
	static const struct function_name several;
	const struct ended_site *kept = &session->ended_sites[index];
	struct snapshot_site row = kept->row;

	row.function = kept->function == ENDED_SEVERAL ? &several
						       : &session->plan.functions[kept->function];
	return row;
}

void session_forget_programs(struct session *session, const struct process *process)
{
	size_t i;

	for (i = 0; i < session->ended_count; i++)
		if (session->ended[i].process == process)
			session->ended[i].process = NULL;
}

void session_free_ended(struct session *session)
{
	size_t i;

	for (i = 0; i < session->ended_count; i++)
		target_free(session->ended[i].target);
	for (i = 0; i < session->ended_site_count; i++)
		stack_free((struct stack *)(uintptr_t)session->ended_sites[i].row.stack);
	free(session->ended);
	free(session->ended_sites);
}
