/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes that somebody else has taken out of a process. A debugger that had a breakpoint on the same instruction writes
 * back what it had found there; a process may map a copy over its code, or have the kernel drop its pages. The kernel does not
 * notice, and half of the calls are missed. So with each report it is looked whether they are there, and those that are not are
 * put back: a probe of an empty program at the same place makes the kernel write the breakpoint again, and as ours is
 * there, too, it stays when that one goes. No call is seen twice for it, and none is missed.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "kernel/bpf_call.h"
#include "kernel/link_task.h"
#include "kernel/perf_probe.h"
#include "session/breakpoints.h"
#include "session/parts.h"
#include "tracer.skel.h"

/* As long as this are processes looked at for one report; the next report goes on with the others. */
#define GUARD_NS 3000000

/* Where a process may have mapped probed files; more of them are not looked at. */
#define PLACES_MAX 64

/* A probe that is not there. */
struct gone {
	size_t place; /* of the process's */
	const struct plan_probe *probe;
	bool replaced; /* other memory stands there than the file's */
};

struct gone_list {
	struct gone *items;
	size_t count, capacity;
};

/* The file of the plan that a process maps as `module`. It may have several names. NULL if none of it is probed. */
static const struct planned_file *guard_find_file(const struct session *session, uint32_t module)
{
	const struct module *mapped = module_list_get(session->options.modules, module);
	const struct module *planned;
	size_t i;

	for (i = 0; mapped && i < session->file_count; i++) {
		const struct planned_file *file = &session->files[i];

		planned = module_list_get(session->options.modules, file->module);
		if (file->count && planned && planned->fd >= 0 &&
		    (file->module == module ||
		     (planned->device == mapped->device && planned->inode == mapped->inode)))
			return file;
	}
	return NULL;
}

static bool guard_is_probed(const struct session *session, uint32_t module,
			    const struct process *process)
{
	size_t i;

	if (session_is_machine_wide(session))
		process = NULL;
	for (i = 0; i < session->probed_count; i++)
		if (session->probed[i].module == module && session->probed[i].process == process)
			return !session->probed[i].failed;
	return false;
}

static struct code_place *guard_add_place(struct process_slot *slot, uint32_t module, uint64_t base)
{
	size_t i;

	for (i = 0; i < slot->place_count; i++)
		if (slot->places[i].module == module && slot->places[i].base == base)
			return &slot->places[i];
	if (slot->place_count == PLACES_MAX)
		return NULL;
	slot->places = memory_grow(slot->places, slot->place_count, &slot->place_capacity,
				   sizeof(*slot->places));
	slot->places[slot->place_count] = (struct code_place){ .module = module, .base = base };
	return &slot->places[slot->place_count++];
}

/* Note where the process maps probed files now. What it maps no more is kept: other memory may stand there. */
static void guard_find_places(struct session *session, size_t position)
{
	const struct process *process = session->processes[position];
	struct process_slot *slot = &session->slots[position];
	const struct planned_file *file = NULL;
	uint32_t last = MODULE_NONE;
	struct code_place *place;
	size_t i;

	if (slot->places_of_ns != process->target.image_ns)
		slot->place_count = 0;
	slot->places_of_ns = process->target.image_ns;
	for (i = 0; i < slot->place_count; i++)
		slot->places[i].mapped = false;
	for (i = 0; i < address_space_count(process->space); i++) {
		struct address_mapping mapping = address_space_get(process->space, i);

		if (mapping.module == MODULE_NONE)
			continue;
		if (mapping.module != last)
			file = guard_find_file(session, mapping.module);
		last = mapping.module;
		if (!file || !guard_is_probed(session, file->module, process))
			continue;
		place = guard_add_place(slot, file->module, mapping.start - mapping.file_offset);
		if (place)
			place->mapped = true;
	}
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
 * Other memory at the place of a file's code is its replacement if the rest of the file stands around it, or if it is a copy;
 * otherwise the file was unmapped, and something else was mapped there.
 */
static void guard_look_at(const struct session *session, const struct process *process,
			  const struct code_place *place, const struct plan_probe *probe,
			  struct breakpoints *code, struct gone *ret_gone)
{
	int file = module_list_get(session->options.modules, place->module)->fd;
	uint64_t address = place->base + probe->site_offset;
	const struct planned_file *mapped;
	struct address_mapping mapping;

	if (!guard_find_mapping(process->space, address, &mapping))
		return;
	mapped = mapping.anonymous ? NULL : guard_find_file(session, mapping.module);
	if (mapped && mapped->module == place->module &&
	    mapping.start - mapping.file_offset == place->base) {
		if (!breakpoints_has(code, address, file, probe->site_offset))
			ret_gone->probe = probe;
	} else if (place->mapped || breakpoints_is_copy(code, address, file, probe->site_offset)) {
		ret_gone->probe = probe;
		ret_gone->replaced = true;
	}
}

static void guard_look_at_place(const struct session *session, const struct process *process,
				struct process_slot *slot, size_t index, struct breakpoints *code,
				struct gone_list *list)
{
	const struct planned_file *file = guard_find_file(session, slot->places[index].module);
	size_t i;

	for (i = 0; file && i < file->count; i++) {
		const struct plan_probe *probe = &session->plan.probes[file->first + i];
		struct gone gone = { .place = index };

		if (!probe->refused)
			guard_look_at(session, process, &slot->places[index], probe, code, &gone);
		if (!gone.probe)
			continue;
		list->items = memory_grow(list->items, list->count, &list->capacity,
					  sizeof(*list->items));
		list->items[list->count++] = gone;
	}
}

/* Which probes are not where the process has them by what is known of its mappings? */
static void guard_look(struct session *session, size_t position, struct gone_list *list)
{
	const struct process *process = session->processes[position];
	struct process_slot *slot = &session->slots[position];
	struct breakpoints code;
	size_t i;

	list->count = 0;
	guard_find_places(session, position);
	if (!slot->place_count)
		return;
	breakpoints_open(&code, process->target.pid);
	for (i = 0; i < slot->place_count; i++)
		guard_look_at_place(session, process, slot, i, &code, list);
	breakpoints_close(&code);
}

/* Have the kernel write the breakpoints of an empty link and take it out again. */
static void guard_renew_linked(const struct session *session, int file, pid_t pid,
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
		log_write(session->options.log, LOG_VERBOSE, "no probe can be put back in %d: %s",
			  pid, strerror(-link));
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
static void guard_renew(const struct session *session, pid_t pid, const struct gone *gone,
			size_t count, uint32_t module)
{
	uint64_t *offsets = memory_alloc(count, sizeof(*offsets));
	int file = module_place(module_list_get(session->options.modules, module));
	size_t i, wanted = 0;

	for (i = 0; i < count; i++)
		if (!gone[i].replaced && !gone[i].probe->semaphore)
			offsets[wanted++] = gone[i].probe->site_offset;
	if (wanted && session->backend <= BACKEND_KERNEL_MULTI)
		guard_renew_linked(session, file, pid, offsets, wanted);
	else if (wanted)
		guard_renew_events(file, pid, offsets, wanted);
	free(offsets);
}

/* `left` of `gone` probes could not be put back. Say it once of each file, and again if it is the other case. */
static void guard_say(const struct session *session, const struct process *process,
		      struct code_place *place, size_t gone, size_t left, const char *symbol)
{
	const char *path = module_list_get(session->options.modules, place->module)->path;

	if (gone > left && !place->said_back)
		log_write(session->options.log, LOG_NOTICE,
			  "process %d (%s): %zu probes in %s (%s) were taken out, as by a debugger "
			  "that "
			  "removes its own breakpoints; they are back, but calls were missed",
			  process->target.pid, process->target.comm, gone - left, path, symbol);
	if (left && !place->said_left)
		log_write(
			session->options.log, LOG_NOTICE,
			"process %d (%s): %zu probes in %s (%s) are gone and cannot be put back: "
			"the "
			"process has replaced or unprotected its code; their calls are not counted",
			process->target.pid, process->target.comm, left, path, symbol);
	place->said_back |= gone > left;
	place->said_left |= left > 0;
}

static size_t gone_list_count(const struct gone_list *list, size_t place)
{
	size_t i, count = 0;

	for (i = 0; i < list->count; i++)
		count += list->items[i].place == place;
	return count;
}

/* Those of one place stand together. */
static void guard_mend(struct session *session, size_t position, struct gone_list *list)
{
	const struct process *process = session->processes[position];
	struct code_place *places = session->slots[position].places;
	struct gone_list left = { 0 };
	size_t i, count;

	for (i = 0; i < list->count; i += count) {
		count = gone_list_count(list, list->items[i].place);
		if (__atomic_load_n(&session->bpf->bss->recording, __ATOMIC_RELAXED))
			guard_renew(session, process->target.pid, &list->items[i], count,
				    places[list->items[i].place].module);
	}
	guard_look(session, position, &left);
	places = session->slots[position].places;
	if (!process_alive(process))
		list->count = 0;
	for (i = 0; i < list->count; i += count) {
		struct gone *first = &list->items[i];

		count = gone_list_count(list, first->place);
		session->probes_missing += count;
		guard_say(session, process, &places[first->place], count,
			  gone_list_count(&left, first->place), first->probe->symbol);
	}
	free(left.items);
}

static void guard_check(struct session *session, size_t position)
{
	struct process *process = session->processes[position];
	struct gone_list list = { 0 };

	guard_look(session, position, &list);
	if (list.count) {
		/* It may have unmapped the file, or ended. */
		session_scan(session, process, session_now());
		guard_look(session, position, &list);
	}
	if (list.count && process_alive(process))
		guard_mend(session, position, &list);
	free(list.items);
}

void session_check_code(struct session *session)
{
	uint64_t start = session_now();
	size_t looked;

	for (looked = 0; looked < session->process_count; looked++) {
		if (session->guard_next >= session->process_count)
			session->guard_next = 0;
		if (!session->processes[session->guard_next]->target.exited)
			guard_check(session, session->guard_next);
		session->guard_next++;
		if (session_now() - start > GUARD_NS)
			break;
	}
}
