/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See notices.h. */
#include "follow/notices.h"

#include <errno.h>

#include "base/units.h"

/* Late files, and missed ones, that are named in a notice; further ones are counted only. */
#define LATE_NOTICES_MAX 64

void notices_unopened(const struct notices *notices, struct module *module)
{
	if ((!module->unanswered && !module->uncopied) || module->warned_unopened)
		return;
	module->warned_unopened = true;
	log_write(
		notices->log, LOG_NOTICE,
		"the server of the file system of %s does not answer%s: functions in the file have "
		"no names, and what it allocates is not counted; %sstart the tracer anew",
		module->path, module->uncopied ? " for all of so large a file" : "",
		module->uncopied ? "" : "when it answers again, ");
}

bool notices_cut(const struct notices *notices, struct process *process, int code)
{
	if ((code != -ETIMEDOUT && !process->is_cut) || process->warned_cut)
		return false;
	process->warned_cut = true;
	log_write(notices->log, LOG_NOTICE, "the mappings of process %d (%s) are not all known: %s",
		  process->target.pid, process->target.comm,
		  process->is_cut ? "there are too many" : "the kernel does not answer for it");
	return true;
}

void notices_without_tables(const struct notices *notices, struct module *module)
{
	if (module->warned_without_tables)
		return;
	module->warned_without_tables = true;
	log_write(notices->log, LOG_NOTICE,
		  "stacks end in %s: not all of its code has unwind tables", module->path);
}

void notices_out_of_files(struct notices *notices)
{
	if (notices->out_of_files)
		return;
	notices->out_of_files = true;
	log_write(notices->log, LOG_NOTICE,
		  "open-file limit reached: files mapped from now on have no names, and stacks may "
		  "end there; raise the limit (ulimit -Hn)");
}

void notices_late_file(struct notices *notices, const struct process *process, const char *path,
		       uint64_t ns)
{
	char time[UNITS_TEXT_MAX];

	log_write(
		notices->log, notices->late_files++ < LATE_NOTICES_MAX ? LOG_NOTICE : LOG_VERBOSE,
		"%s: probed %s after process %d (%s) had mapped it: calls of that time are missing",
		path, units_format_time(ns, time), process->target.pid, process->target.comm);
}

void notices_missed_file(struct notices *notices, const struct process *process, const char *path)
{
	log_write(
		notices->log, notices->missed_files++ < LATE_NOTICES_MAX ? LOG_NOTICE : LOG_VERBOSE,
		"%s: process %d (%s) had ended, or did not map it any more, before it was probed: "
		"calls of an allocator in it are missing",
		path, process->target.pid, process->target.comm);
}

void notices_unprobed(const struct notices *notices, struct process *process, bool root,
		      bool only_samples)
{
	const struct target *target = &process->target;

	if (process->warned_unprobed)
		return;
	process->warned_unprobed = true;
	log_write(notices->log, root ? LOG_NOTICE : LOG_VERBOSE,
		  "nothing is probed in process %d: %s maps %s", target->pid,
		  target->exe ? target->exe : target->comm,
		  only_samples ? "no file that publishes samples (--usdt only)"
			       : "no known allocator");
}

void notices_first_thread_ended(const struct notices *notices, struct process *process)
{
	if (!process->first_thread_ended || process->warned_first_thread || !process_alive(process))
		return;
	process->warned_first_thread = true;
	log_write(notices->log, LOG_NOTICE,
		  "the first thread of process %d has ended: the kernel may take the probes out "
		  "when another tracer comes or goes",
		  process->target.pid);
}
