/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Warnings, each given once: per session, per file, or per program of a process. */
#ifndef FOLLOW_NOTICES_H
#define FOLLOW_NOTICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "discover/process.h"
#include "model/module.h"

struct notices {
	const struct log *log;
	bool out_of_files; /* the warning was given */
	unsigned int late_files, missed_files; /* warnings given */
};

/* If the file of a module was not opened because of its file system, warn. */
void notices_unopened(const struct notices *notices, struct module *module);

/* Stacks end in a module because it has no unwind tables. */
void notices_without_tables(const struct notices *notices, struct module *module);

/*
 * Reading the mappings of a process ended with `code`. Returns true if some of them are unknown and
 * the warning was written now.
 */
bool notices_cut(const struct notices *notices, struct process *process, int code);

/* The limit of open files is reached. */
void notices_out_of_files(struct notices *notices);

/* A file was probed `ns` nanoseconds after the process mapped it. */
void notices_late_file(struct notices *notices, const struct process *process, const char *path,
		       uint64_t ns);

/* A process ended before a file that it had mapped was probed. */
void notices_missed_file(struct notices *notices, const struct process *process, const char *path);

/* Nothing is probed in a process; `root`: the user has named it, `only_samples`: only samples are probed. */
void notices_unprobed(const struct notices *notices, struct process *process, bool root,
		      bool only_samples);

/* The first thread of a running process has ended: the kernel may drop probes that belong to it. */
void notices_first_thread_ended(const struct notices *notices, struct process *process);

#endif
