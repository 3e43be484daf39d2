/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See guard.h. */
#include "follow/guard.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/units.h"
#include "kernel/bpf_call.h"
#include "kernel/link_task.h"
#include "kernel/perf_probe.h"
#include "follow/breakpoints.h"
#include "system/program_identity.h"

/* As long as this are processes looked at for one report; the next report goes on with the others. */
#define GUARD_NS 3000000

/* Where a process may have mapped probed files; more of them are not looked at. */
#define PLACES_MAX 64

/* A probe that is not there. */
struct gone {
	size_t place; /* of the process's */
	const struct plan_probe *probe;
	bool replaced; /* other memory is there than the file's */
};

struct gone_list {
	struct gone *items;
	size_t count, capacity;
};

void guard_free(struct guard *guard)
{
	size_t i;

	for (i = 0; i < guard->count; i++)
		free(guard->guarded[i].places);
	free(guard->guarded);
	guard->guarded = NULL;
	guard->count = 0;
}

/* The file of the plan that a process maps as `module`. NULL if none of it is probed. */
static const struct planned_file *guard_find_file(const struct guard *guard, uint32_t module)
{
	return planned_files_get(guard->scan->probes->files, module);
}

/* What is kept of a process, for the program that it runs now. */
static struct guarded *guard_get(struct guard *guard, const struct process *process)
{
	size_t count = guard->processes->count;
	struct guarded *guarded;

	if (guard->count < count) {
		guard->guarded = memory_resize(guard->guarded, count, sizeof(*guard->guarded));
		memset(guard->guarded + guard->count, 0,
		       (count - guard->count) * sizeof(*guard->guarded));
		guard->count = count;
	}
	guarded = &guard->guarded[process->target_id - 1];
	if (guarded->opened_ns != process->opened_ns || guarded->exec_ns != process->target.exec_ns)
		guarded->count = 0;
	guarded->opened_ns = process->opened_ns;
	guarded->exec_ns = process->target.exec_ns;
	return guarded;
}

static struct code_place *guard_add_place(struct guarded *guarded, uint32_t module, uint64_t base)
{
	size_t i;

	for (i = 0; i < guarded->count; i++)
		if (guarded->places[i].module == module && guarded->places[i].base == base)
			return &guarded->places[i];
	if (guarded->count == PLACES_MAX)
		return NULL;
	guarded->places = memory_grow(guarded->places, guarded->count, &guarded->capacity,
				      sizeof(*guarded->places));
	guarded->places[guarded->count] = (struct code_place){ .module = module, .base = base };
	return &guarded->places[guarded->count++];
}

/* Note where the process maps probed files now. What it maps no more is kept: other memory may be there. */
static struct guarded *guard_find_places(struct guard *guard, const struct process *process)
{
	struct guarded *guarded = guard_get(guard, process);
	const struct planned_file *file = NULL;
	uint32_t last = MODULE_NONE;
	struct code_place *place;
	size_t i;

	for (i = 0; i < guarded->count; i++)
		guarded->places[i].mapped = false;
	for (i = 0; i < address_space_count(process->space); i++) {
		struct address_mapping mapping = address_space_get(process->space, i);

		if (mapping.module == MODULE_NONE)
			continue;
		if (mapping.module != last)
			file = guard_find_file(guard, mapping.module);
		last = mapping.module;
		if (!file || !probe_set_has(guard->scan->probes, file->module, process))
			continue;
		place = guard_add_place(guarded, file->module, mapping.start - mapping.file_offset);
		if (place)
			place->mapped = true;
	}
	return guarded;
}

/* The executable mapping that holds an address. False if there is none. */
static bool guard_find_mapping(const struct address_space *space, uint64_t address,
			       struct address_mapping *ret_mapping)
{
	size_t low = 0, high = address_space_count(space), middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		*ret_mapping = address_space_get(space, middle);
		if (address < ret_mapping->start)
			high = middle;
		else if (address >= ret_mapping->end)
			low = middle + 1;
		else
			return true;
	}
	return false;
}

/*
 * Other memory at the place of a file's code is its replacement if the rest of the file is around it, or if it is a copy;
 * otherwise the file was unmapped, and something else was mapped there.
 */
static void guard_look_at(const struct guard *guard, const struct process *process,
			  const struct code_place *place, const struct plan_probe *probe,
			  struct breakpoints *code, struct gone *ret_gone)
{
	int file = module_list_get(guard->scan->modules, place->module)->fd;
	uint64_t address = place->base + probe->site_offset;
	const struct planned_file *mapped;
	struct address_mapping mapping;

	if (!guard_find_mapping(process->space, address, &mapping))
		return;
	mapped = mapping.anonymous ? NULL : guard_find_file(guard, mapping.module);
	if (mapped && mapped->module == place->module &&
	    mapping.start - mapping.file_offset == place->base) {
		if (!breakpoints_has(code, address, file, probe->site_offset))
			ret_gone->probe = probe;
	} else if (place->mapped || breakpoints_is_copy(code, address, file, probe->site_offset)) {
		ret_gone->probe = probe;
		ret_gone->replaced = true;
	}
}

static void guard_look_at_place(const struct guard *guard, const struct process *process,
				const struct guarded *guarded, size_t index,
				struct breakpoints *code, struct gone_list *list)
{
	const struct planned_file *file = guard_find_file(guard, guarded->places[index].module);
	const struct probe_set *set = guard->scan->probes;
	size_t i;

	for (i = 0; file && i < file->count; i++) {
		const struct plan_probe *probe = &set->files->plan.probes[file->first + i];
		struct gone gone = { .place = index };

		if (probe_set_expects(set, probe))
			guard_look_at(guard, process, &guarded->places[index], probe, code, &gone);
		if (!gone.probe)
			continue;
		list->items = memory_grow(list->items, list->count, &list->capacity,
					  sizeof(*list->items));
		list->items[list->count++] = gone;
	}
}

/* Which probes are not where the process has them by what is known of its mappings? */
static struct guarded *guard_look(struct guard *guard, const struct process *process,
				  struct gone_list *list)
{
	struct guarded *guarded = guard_find_places(guard, process);
	struct breakpoints code;
	size_t i;

	list->count = 0;
	if (!guarded->count)
		return guarded;
	breakpoints_open(&code, process->target.pid);
	for (i = 0; i < guarded->count; i++)
		guard_look_at_place(guard, process, guarded, i, &code, list);
	breakpoints_close(&code);
	return guarded;
}

/* Have the kernel write the breakpoints of an empty link and take it out again. */
static void guard_renew_linked(const struct guard *guard, int file, pid_t pid,
			       const uint64_t *offsets, size_t count)
{
	uint64_t *cookies = memory_alloc(count, sizeof(*cookies));
	struct uprobe_multi probes = {
		.program = bpf_call_load_empty(ATTACH_UPROBE_MULTI),
		.attach_type = ATTACH_UPROBE_MULTI,
		.file = file,
		.pid = pid,
		.offsets = offsets,
		.cookies = cookies,
		.count = count,
	};
	int link = probes.program < 0 ? probes.program : bpf_call_link_uprobes(&probes);

	if (link >= 0)
		link_task_close(&link, 1);
	else
		log_write(guard->scan->log, LOG_VERBOSE, "no probe can be put back in %d: %s", pid,
			  strerror(-link));
	if (probes.program >= 0)
		close(probes.program);
	free(cookies);
}

/* The same with an event for each, which has no program. */
static void guard_renew_events(int file, pid_t pid, const uint64_t *offsets, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		struct perf_probe probe = {
			.file = file, .offset = offsets[i], .pid = pid, .program = -1
		};
		int event = perf_probe_attach(&probe);

		if (event >= 0)
			link_task_close(&event, 1);
	}
}

/*
 * Put back what is gone of one place. A semaphore would be raised for the second probe, and not lowered again: such places
 * are left as they are.
 */
static void guard_renew(const struct guard *guard, pid_t pid, const struct gone *gone, size_t count,
			uint32_t module)
{
	uint64_t *offsets = memory_alloc(count, sizeof(*offsets));
	int file = module_probe_fd(module_list_get(guard->scan->modules, module));
	size_t i, wanted = 0;

	for (i = 0; i < count; i++)
		if (!gone[i].replaced && !gone[i].probe->semaphore)
			offsets[wanted++] = gone[i].probe->site_offset;
	if (wanted && guard->scan->probes->how.backend <= BACKEND_KERNEL_MULTI)
		guard_renew_linked(guard, file, pid, offsets, wanted);
	else if (wanted)
		guard_renew_events(file, pid, offsets, wanted);
	free(offsets);
}

/* `left` of `gone` probes could not be put back. Report it once for each file, and again if the case changes. */
static void guard_warn(const struct guard *guard, const struct process *process,
		       struct code_place *place, size_t gone, size_t left, const char *symbol)
{
	const char *path = module_list_get(guard->scan->modules, place->module)->path;

	if (gone > left && !place->warned_back)
		log_write(guard->scan->log, LOG_NOTICE,
			  "process %d (%s): %zu probe%s in %s (%s) taken out, as by a debugger "
			  "that removes its own breakpoints; put back, but calls were missed",
			  process->target.pid, process->target.comm, gone - left,
			  units_s(gone - left), path, symbol);
	if (left && !place->warned_left)
		log_write(guard->scan->log, LOG_NOTICE,
			  "process %d (%s): %zu probe%s in %s (%s) gone, and cannot be put back: "
			  "the process has replaced or unprotected its code; their calls are not "
			  "counted",
			  process->target.pid, process->target.comm, left, units_s(left), path,
			  symbol);
	place->warned_back |= gone > left;
	place->warned_left |= left > 0;
}

static size_t gone_list_count(const struct gone_list *list, size_t place)
{
	size_t i, count = 0;

	for (i = 0; i < list->count; i++)
		count += list->items[i].place == place;
	return count;
}

/*
 * Without CAP_DAC_READ_SEARCH, nothing shows which program another user's process runs: they all
 * look the same then. Returns 0 or a negative errno.
 */
static int guard_read_program(const struct process *process, struct program_identity *ret_program)
{
	int code = program_identity_read(process->target.pid, ret_program);

	if (code != -EACCES && code != -EPERM)
		return code;
	*ret_program = (struct program_identity){ 0 };
	return 0;
}

/*
 * Does the process still run this program? If it has executed another one, what was read at the
 * addresses of the first one shows nothing.
 */
static bool guard_runs(const struct process *process, const struct program_identity *program)
{
	struct program_identity now;

	return !guard_read_program(process, &now) && program_identity_is_same(program, &now) &&
	       process_alive(process);
}

/* Those of one place are together. */
static void guard_mend(struct guard *guard, const struct process *process,
		       const struct program_identity *program, struct gone_list *list)
{
	const struct guarded *guarded = guard_get(guard, process);
	struct gone_list left = { 0 };
	size_t i, count;

	for (i = 0; i < list->count; i += count) {
		count = gone_list_count(list, list->items[i].place);
		if (bpf_programs_are_recording(guard->programs))
			guard_renew(guard, process->target.pid, &list->items[i], count,
				    guarded->places[list->items[i].place].module);
	}
	guarded = guard_look(guard, process, &left);
	if (!guard_runs(process, program))
		list->count = 0;
	for (i = 0; i < list->count; i += count) {
		struct gone *first = &list->items[i];

		count = gone_list_count(list, first->place);
		guard->missing += count;
		guard_warn(guard, process, &guarded->places[first->place], count,
			   gone_list_count(&left, first->place), first->probe->symbol);
	}
	free(left.items);
}

/*
 * Probes seem to be missing also where the process has unmapped the file, executed another program,
 * or ended: only mappings that are read now, of a program that runs on, decide. What stays
 * undecided is left for the next check.
 */
static void guard_confirm(struct guard *guard, struct process *process, struct gone_list *list)
{
	struct program_identity program;

	if (guard_read_program(process, &program) ||
	    !scan_process(guard->scan, process, clock_now_ns())) {
		log_write(guard->scan->log, LOG_VERBOSE,
			  "process %d (%s): whether %zu probes are missing is not known yet: its "
			  "mappings cannot be read now",
			  process->target.pid, process->target.comm, list->count);
		return;
	}
	guard_look(guard, process, list);
	if (list->count && guard_runs(process, &program))
		guard_mend(guard, process, &program, list);
}

static void guard_check_process(struct guard *guard, struct process *process)
{
	struct gone_list list = { 0 };

	guard_look(guard, process, &list);
	if (list.count)
		guard_confirm(guard, process, &list);
	free(list.items);
}

void guard_check(struct guard *guard)
{
	const struct process_table *processes = guard->processes;
	uint64_t start = clock_now_ns();
	size_t looked;

	for (looked = 0; looked < processes->count; looked++) {
		if (guard->next >= processes->count)
			guard->next = 0;
		if (!processes->slots[guard->next].process->target.exited)
			guard_check_process(guard, processes->slots[guard->next].process);
		guard->next++;
		if (clock_now_ns() - start > GUARD_NS)
			break;
	}
}
