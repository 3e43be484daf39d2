/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See site_reader.h. */
#include "follow/site_reader.h"

#include <stdio.h>

#include "base/clock.h"
#include "model/name_pool.h"
#include "unwind_abi.h"

/* Put the frames of the interpreter that ran into the stack of a new site. */
static void site_reader_merge_interpreter(const struct site_reader *reader, struct known_site *site)
{
	struct interp_record record;

	if (!maps_get(reader->maps, MAPS_INTERP_STACKS, &site->record.stack, &record))
		site->stack = interp_table_merge(reader->scan->interps, site->process, site->stack,
						 &record);
}

/* Warn of a file in which stacks end for lack of unwind tables. Where those found no room, there was a warning. */
static void site_reader_warn(const struct site_reader *reader, const struct stack *stack)
{
	const struct frame *frame = NULL;
	struct module *module;
	uint32_t i;

	for (i = 0; i < stack->count; i++)
		if (stack->frames[i].kind == FRAME_NATIVE)
			frame = &stack->frames[i];
	module = frame ? module_list_get(reader->scan->modules, frame->module) : NULL;
	if (module && !unwind_loader_is_full(reader->scan->unwind))
		notices_without_tables(reader->notices, module);
}

static bool site_reader_is_inside(const void *context, uint32_t module, uint64_t offset)
{
	return plan_is_in_allocator(context, module, offset);
}

/* A sample is published from somewhere in the allocator: the frames there are no part of the stack. */
static void site_reader_drop_allocator(const struct site_reader *reader, struct known_site *site)
{
	const struct plan *plan = &reader->scan->probes->files->plan;

	if (site->record.function < plan->function_count &&
	    plan->functions[site->record.function].sampled)
		sites_drop_inner(site, site_reader_is_inside, plan);
}

/* Where sites are of threads of one name, that is the end of their stacks. */
static void site_reader_add_thread(const struct site_reader *reader, struct known_site *site)
{
	struct site_thread thread;
	char text[sizeof(thread.name) + 1];
	const struct frame_name name = { .function = text };

	if (!maps_exist(reader->maps, MAPS_SITE_THREADS) ||
	    maps_get(reader->maps, MAPS_SITE_THREADS, &site->key, &thread))
		return;
	snprintf(text, sizeof(text), "%.*s", (int)sizeof(thread.name), thread.name);
	sites_add_thread(site, name_pool_keep(jit_names_pool(reader->jit_names), &name));
}

struct known_site *site_reader_read(const struct site_reader *reader, uint64_t key,
				    const struct site *record)
{
	struct process *process = process_table_get(reader->processes, record->target_id);
	struct known_site *known = sites_get(reader->sites, key);
	struct stack_record stack;
	bool found;

	if (known) {
		sites_set(known, record);
		return known;
	}
	if (!process)
		return NULL;
	found = record->stack && !maps_get(reader->maps, MAPS_STACKS, &record->stack, &stack);
	if (sites_add(reader->sites, key, record, process, found ? &stack : NULL)) {
		scan_process(reader->scan, process, clock_now_ns());
		sites_resolve(sites_get(reader->sites, key));
	}
	known = sites_get(reader->sites, key);
	if (found && (stack.end & ~(uint32_t)UNWIND_END_GUESSED) == UNWIND_END_NO_ROWS)
		site_reader_warn(reader, known->stack);
	site_reader_drop_allocator(reader, known);
	jit_names_fill(reader->jit_names, &process->target, known->stack);
	if (found)
		site_reader_merge_interpreter(reader, known);
	site_reader_add_thread(reader, known);
	ended_compare_site(reader->ended, process, &known->record);
	return known;
}
