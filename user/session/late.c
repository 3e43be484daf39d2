/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of a session that counts what ran before its probes were in. How many calls that were, nobody can say. */
#include "base/units.h"
#include "session/parts.h"

/* Files of which it is said; further ones are counted only. */
#define LATE_SAID_MAX 64

/* How long it ran without probes while blocks were recorded; 0 = not at all. */
static uint64_t session_lateness(const struct session *session, uint64_t since_ns)
{
	uint64_t now = session_now();

	if (!session->start_ns)
		return 0;
	if (since_ns < session->start_ns)
		since_ns = session->start_ns;
	return now > since_ns ? now - since_ns : 0;
}

static void session_say_late(struct session *session, const struct process *process,
			     const char *path, uint64_t ns)
{
	char time[UNITS_TEXT_MAX];

	log_write(
		session->options.log,
		session->late_said++ < LATE_SAID_MAX ? LOG_NOTICE : LOG_VERBOSE,
		"%s: probed %s after process %d (%s) had mapped it: calls of that time are missing",
		path, units_format_time(ns, time), process->target.pid, process->target.comm);
}

void session_late_file(struct session *session, struct process *process, uint32_t module)
{
	const char *path = module_list_get(session->options.modules, module)->path;
	uint64_t since = address_space_since(process->space, module), ns;

	/* Its first files are late as it is itself. What is held while it is opened is not mapped yet. */
	if (!process->probed || !since || since == UINT64_MAX)
		return;
	ns = session_lateness(session, since);
	if (!ns)
		return;
	session->files_late++;
	lateness_add_file(&process->target.late, path, ns);
	session_say_late(session, process, path, ns);
}

/* Is anything probed in it? */
static bool session_is_probing(const struct session *session, const struct process *process)
{
	size_t i;

	for (i = 0; i < session->probed_count; i++)
		if (!session->probed[i].process || session->probed[i].process == process)
			return true;
	return false;
}

void session_late_child(struct session *session, struct process *process, uint64_t since_ns)
{
	uint64_t ns = session_lateness(session, since_ns);

	if (!ns || !session_is_probing(session, process))
		return;
	session->children_late++;
	lateness_add_child(&process->target.late, ns);
}

/*
 * Links that are one for many probes leave out the calls of other processes, even in the same memory; so do the programs
 * where files are probed for the whole machine. Perf events are tied to the memory.
 */
void session_late_sharer(struct session *session, const struct process *process, uint32_t parent)
{
	struct process *owner = session_find_process(session, parent);
	void *birth = (void *)(uintptr_t)(process->start_ticks + 1);

	if (!owner || !session->start_ns || session->backend > BACKEND_KERNEL_MULTI ||
	    table_get(&session->sharers, (uint32_t)process->target.pid) == birth)
		return;
	table_put(&session->sharers, (uint32_t)process->target.pid, birth);
	session->memory_shared++;
	lateness_add_shared(&owner->target.late);
}
