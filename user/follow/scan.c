/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See scan.h. */
#include "follow/scan.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "system/end_signals.h"

/*
 * A process may have 65,530 mappings with names of 4 KB, which takes seconds to read, and may want that at each of its
 * stacks. So it has its time for that at the start, and then so much of the time that passes.
 */
#define SCAN_FREE_NS 500000000ull
#define SCAN_SHARE 50

/* A file may be several modules, of which one was planned. */
static void scan_mark_allocator(const struct scan *scan, uint32_t module)
{
	module_list_get(scan->modules, module)->allocates = true;
	unwind_loader_mark_allocator(scan->unwind, module);
}

/* The process has ended before a file that it maps was opened or probed. */
static void scan_miss_file(const struct scan *scan, struct process *process, uint32_t module)
{
	late_ended(scan->late, process, module_list_get(scan->modules, module),
		   address_space_since(process->space, module));
}

const struct planned_file *scan_plan(const struct scan *scan, struct process *process,
				     uint32_t module)
{
	const struct module *opened = module_list_get(scan->modules, module);
	const struct planned_file *file;

	returns_note(scan->returns);
	file = planned_files_plan(scan->probes->files, process, module);
	if (opened && opened->fd < 0)
		scan_miss_file(scan, process, module);
	return file;
}

/*
 * The end was requested: its report does not wait for probes that see nothing any more, and on a busy machine take seconds.
 * Files without probes are counted.
 */
static bool scan_is_too_late(const struct scan *scan, const struct process *process,
			     uint32_t module)
{
	const struct planned_file *file;

	if (!scan->late->start_ns || !end_signals_are_pending())
		return false;
	file = planned_files_get(scan->probes->files, module);
	scan->probes->unprobed += file ? !probe_set_has(scan->probes, file->module, process)
				       : planned_files_lack(scan->probes->files, module);
	return true;
}

int scan_probe_module(const struct scan *scan, struct process *process, uint32_t module,
		      struct error *error)
{
	const struct planned_file *file;
	const struct module *opened;
	int code;

	if (process->translator || scan_is_too_late(scan, process, module))
		return 0;
	file = scan_plan(scan, process, module);
	if (file && (file->samples || scan->only_samples || scan->in_windows))
		interp_table_disable_memo(scan->interps, process);
	returns_give_up(scan->returns, process);
	if (!file)
		return 0;
	if (file->allocates)
		scan_mark_allocator(scan, module);
	code = probe_set_probe(scan->probes, process, file, module, error);
	if (code == -ESRCH && file->allocates)
		scan_miss_file(scan, process, module);
	if (code <= 0)
		return code;
	opened = module_list_get(scan->modules, file->module);
	if (file->allocates)
		late_file(scan->late, process, module_list_get(scan->modules, module)->path,
			  address_space_since(process->space, module));
	log_write(scan->log, LOG_VERBOSE, "%zu functions of %s are probed in %s %d (%s)",
		  file->count, opened->path,
		  scan->probes->machine_wide ? "all processes, for" : "process",
		  process->target.pid, process->target.comm);
	return 0;
}

void scan_probe_new_module(const struct scan *scan, struct process *process, uint32_t module)
{
	struct error error = { 0 };

	if (scan_probe_module(scan, process, module, &error))
		log_write(scan->log, LOG_NOTICE, "a library opened later is not traced: %s",
			  error.text);
}

void scan_leave_translated(const struct scan *scan, struct process *process)
{
	if (scan->probes->machine_wide)
		return;
	probe_set_forget(scan->probes, process, true);
	log_write(scan->log, LOG_NOTICE,
		  "process %d executes %s now, which takes probes for instructions of the program "
		  "that it runs: it is not traced any more",
		  process->target.pid, process->translator);
}

int scan_probe_mapped(const struct scan *scan, struct process *process, struct error *error)
{
	uint32_t *mapped = NULL;
	size_t count, i;
	int code = 0;

	scan_update_unwind(scan, process);
	count = address_space_modules(process->space, &mapped);
	for (i = 0; i < count && !code; i++)
		code = scan_probe_module(scan, process, mapped[i], error);
	free(mapped);
	return code;
}

void scan_update_unwind(const struct scan *scan, const struct process *process)
{
	unwind_loader_update(scan->unwind, process->target_id, process->target.pid, process->space);
}

void scan_see_interpreter(const struct scan *scan, const struct process *process)
{
	if (process->translator)
		return;
	interp_table_see(scan->interps, process, process->target_id);
}

void scan_probe_interpreters(const struct scan *scan)
{
	struct error error = { 0 };
	struct interp_point found;

	/* An end that is not seen between windows leaves what is remembered of the code wrong. */
	while (!scan->in_windows && interp_table_next_point(scan->interps, &found)) {
		struct probed_point end = {
			.module = found.module,
			.process = found.process,
			.offset = found.offset,
			.cookie = SHAPE_WITH_TARGET(SHAPE(CALL_CODE_END, 0, 0, 1, 0, 0),
						    found.target_id),
			.symbol = "the end of the interpreter's code",
		};

		if (!probe_set_probe_point(scan->probes, &end, &error))
			interp_table_point_set(scan->interps, &found);
	}
}

uint64_t scan_due(const struct process *process)
{
	if (process->scan_ns <= SCAN_FREE_NS)
		return process->opened_ns;
	return process->opened_ns + (process->scan_ns - SCAN_FREE_NS) * SCAN_SHARE;
}

/* False if it is too early: the process is marked as one that is to be scanned. */
static bool scan_read_mappings(const struct scan *scan, struct process *process, uint64_t time_ns)
{
	uint64_t begin = clock_now_ns();
	int code;

	if (process->target.exited)
		return false;
	if (begin < scan_due(process)) {
		process->needs_scan = true;
		return false;
	}
	code = process_scan(process, scan->modules, time_ns);
	process->scan_ns += clock_now_ns() - begin;
	scan->probes->unprobed += notices_cut(scan->late->notices, process, code);
	return !code;
}

bool scan_process(const struct scan *scan, struct process *process, uint64_t time_ns)
{
	uint32_t *modules;
	size_t count, i;

	if (!scan_read_mappings(scan, process, time_ns))
		return false;
	scan_update_unwind(scan, process);
	count = address_space_modules(process->space, &modules);
	for (i = 0; i < count; i++)
		scan_probe_new_module(scan, process, modules[i]);
	free(modules);
	scan_see_interpreter(scan, process);
	return true;
}
