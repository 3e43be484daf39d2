/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ended.h. */
#include "follow/ended.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void ended_add_program(struct ended *ended, struct process *process, uint64_t time_ns)
{
	struct ended_program *program;

	if (!ended->keeps)
		return;
	ended->programs = memory_grow(ended->programs, ended->program_count,
				      &ended->program_capacity, sizeof(*ended->programs));
	program = &ended->programs[ended->program_count++];
	*program = (struct ended_program){ .process = process, .until_ns = time_ns };
	/* The process itself runs another program, or makes way for another one: its lateness is of the one that has ended. */
	program->target = target_copy(&process->target);
	program->target->exited = true;
	lateness_free(process->target.late);
	process->target.late = NULL;
}

/*
 * Two programs of a process have sites, and there was no EXEC record: the newer one began no later than its first site. Where
 * records are dropped, that may become known later than the site.
 */
static void ended_infer_exec(struct ended *ended, struct process *process, uint64_t time_ns)
{
	process->exec_missed = ended->has_records && !ended->lost_records;
	if (process->exec_missed)
		return;
	ended_add_program(ended, process, time_ns);
	process_see_program(process, time_ns);
	ended->needs_reap = true;
}

void ended_lose_records(struct ended *ended, struct process *process)
{
	if (process->exec_missed)
		ended_infer_exec(ended, process, process->exec_first_ns);
}

void ended_compare_site(struct ended *ended, struct process *process, const struct site *record)
{
	uint64_t first_ns = record->first_ns, exec_ns = process->target.exec_ns;
	bool is_newer = !process->exec_first_ns ||
			(int32_t)(record->exec_id - process->exec_id) > 0;

	/* There was no record of the exec of a command that was held. */
	if (!ended->has_records && !process->exec_first_ns)
		process_see_program(process, exec_ns);
	if (is_newer) {
		if (process->exec_first_ns && process->exec_first_ns >= exec_ns)
			ended_infer_exec(ended, process, first_ns);
		process->exec_id = record->exec_id;
		process->exec_first_ns = first_ns;
	} else if (record->exec_id != process->exec_id) {
		if (first_ns >= exec_ns)
			ended_infer_exec(ended, process, process->exec_first_ns);
	} else if (first_ns < process->exec_first_ns) {
		process->exec_first_ns = first_ns;
		if (first_ns < exec_ns)
			process->target.exec_ns = first_ns;
	}
}

bool ended_is_current(const struct known_site *site)
{
	return !site->process->to_reap && site->record.first_ns >= site->process->target.exec_ns;
}

/* The program that made a site: of those of its process, the first that ended later. */
static struct ended_program *ended_find_program(const struct ended *ended,
						const struct known_site *site)
{
	size_t i;

	for (i = 0; i < ended->program_count; i++)
		if (ended->programs[i].process == site->process &&
		    site->record.first_ns < ended->programs[i].until_ns)
			return &ended->programs[i];
	return NULL;
}

/* Keep a row of a program; returns its index. */
static size_t ended_add_row(struct ended *ended, struct ended_program *program,
			    const struct snapshot_site *row, uint32_t function)
{
	struct ended_site *kept;

	ended->sites = memory_grow(ended->sites, ended->site_count, &ended->site_capacity,
				   sizeof(*ended->sites));
	kept = &ended->sites[ended->site_count];
	*kept = (struct ended_site){ .row = *row, .function = function };
	kept->row.function = NULL;
	kept->row.target = program->target;
	kept->row.ended = true;
	program->has_sites = true;
	return ended->site_count++;
}

/*
 * Sites that hold nothing are one row, whatever their stacks: a program leaves so many that they would be most of what is
 * remembered, but what they have allocated and freed belongs into the sums.
 */
static void ended_add_rest(struct ended *ended, struct ended_program *program,
			   const struct snapshot_site *row)
{
	size_t *rest = &program->rest[row->source][row->sampled];
	struct snapshot_site empty = { .source = row->source, .sampled = row->sampled };
	struct snapshot_site *sum;

	if (!*rest) {
		empty.stack = memory_alloc(1, sizeof(struct stack));
		*rest = ended_add_row(ended, program, &empty, ENDED_SEVERAL) + 1;
	}
	sum = &ended->sites[*rest - 1].row;
	site_stats_add(&sum->stats, &row->stats);
}

void ended_keep_site(struct ended *ended, struct known_site *site, const struct snapshot_site *row)
{
	struct ended_program *program = ended_find_program(ended, site);

	if (!program || !row->stats.alloc_objects)
		return;
	if (row->stats.alloc_objects == row->stats.free_objects) {
		ended_add_rest(ended, program, row);
		return;
	}
	ended_add_row(ended, program, row, site->record.function);
	site->stack = NULL;
}

struct snapshot_site ended_row(const struct ended *ended, const struct plan *plan, size_t index)
{
	static const struct function_name several;
	const struct ended_site *kept = &ended->sites[index];
	struct snapshot_site row = kept->row;

	row.function = kept->function == ENDED_SEVERAL ? &several
						       : &plan->functions[kept->function];
	return row;
}

bool ended_lists(const struct ended_program *program)
{
	return program->has_sites || program->until_ns == UINT64_MAX;
}

void ended_forget_process(struct ended *ended, const struct process *process)
{
	size_t i;

	for (i = 0; i < ended->program_count; i++)
		if (ended->programs[i].process == process)
			ended->programs[i].process = NULL;
}

void ended_free(struct ended *ended)
{
	size_t i;

	for (i = 0; i < ended->program_count; i++)
		target_free(ended->programs[i].target);
	for (i = 0; i < ended->site_count; i++)
		stack_free((struct stack *)(uintptr_t)ended->sites[i].row.stack);
	free(ended->programs);
	free(ended->sites);
	ended->programs = NULL;
	ended->sites = NULL;
	ended->program_count = ended->site_count = 0;
}
