/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of a session that reads the mappings of processes from /proc, and handles what is new in them. */
#include <errno.h>
#include <stdlib.h>

#include "discover/module_finder.h"
#include "session/parts.h"

/*
 * A process may have 65,530 mappings with names of 4 KB, which takes seconds to read, and may want that at each of its
 * stacks. So it has its time for that at the start, and then so much of the time that passes.
 */
#define SCAN_FREE_NS 500000000ull
#define SCAN_SHARE 50

void session_probe_quietly(struct session *session, struct process *process, uint32_t module)
{
	struct error error = { 0 };

	if (session_probe_module(session, process, module, &error))
		log_write(session->options.log, LOG_NOTICE,
			  "a library opened later is not traced: %s", error.text);
}

void session_see_interpreter(struct session *session, const struct process *process)
{
	uint32_t i;

	for (i = 0; i < session->process_count; i++)
		if (session->processes[i] == process)
			interp_table_see(session->interps, process, i + 1);
}

void session_update_unwind(struct session *session, const struct process *process)
{
	unwind_loader_update(session->unwind, session_owner_number(session, process),
			     process->target.pid, process->space);
}

uint64_t session_scan_due(const struct process *process)
{
	if (process->scan_ns <= SCAN_FREE_NS)
		return process->opened_ns;
	return process->opened_ns + (process->scan_ns - SCAN_FREE_NS) * SCAN_SHARE;
}

/* What is not read is not seen; said once of a process. */
static void session_note_cut(struct session *session, struct process *process, int code)
{
	if ((code != -ETIMEDOUT && !process->is_cut) || process->said_cut)
		return;
	process->said_cut = true;
	session->files_unprobed++;
	log_write(session->options.log, LOG_NOTICE,
		  "the mappings of process %d (%s) are not all known: %s", process->target.pid,
		  process->target.comm,
		  process->is_cut ? "there are too many" : "the kernel does not answer for it");
}

/* False if it is too early: the process is marked as one that is to be scanned. */
static bool session_read_mappings(struct session *session, struct process *process,
				  uint64_t time_ns)
{
	uint64_t begin = session_now();
	int code;

	if (process->target.exited)
		return false;
	if (begin < session_scan_due(process)) {
		process->needs_scan = true;
		return false;
	}
	code = process_scan(process, session->options.modules, time_ns);
	process->scan_ns += session_now() - begin;
	session_note_cut(session, process, code);
	return !code;
}

void session_scan(struct session *session, struct process *process, uint64_t time_ns)
{
	uint32_t *modules;
	size_t count, i;

	if (!session_read_mappings(session, process, time_ns))
		return;
	session_update_unwind(session, process);
	count = address_space_modules(process->space, &modules);
	for (i = 0; i < count; i++)
		session_probe_quietly(session, process, modules[i]);
	free(modules);
	session_see_interpreter(session, process);
}
