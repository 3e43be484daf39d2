/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Warnings that are given once: per session, per file, or per program of a process. */
#ifndef SESSION_NOTICES_H
#define SESSION_NOTICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "discover/process.h"
#include "model/module.h"

struct notices {
	const struct log *log;
	bool out_of_files; /* was given */
	unsigned int late_files, missed_files; /* how many were given */
};

/* The file of a module was not opened because of its file system, if that is so. */
void notices_unopened(const struct notices *notices, struct module *module);

/* Stacks end in a module for lack of unwind tables. */
void notices_without_tables(const struct notices *notices, struct module *module);

/* Some mappings of a process are not known, as reading them has ended with `code`. True if so, and if the message was written now. */
bool notices_cut(const struct notices *notices, struct process *process, int code);

/* The limit of open files is reached. */
void notices_out_of_files(struct notices *notices);

/* A file was probed `ns` nanoseconds after the process had mapped it. */
void notices_late_file(struct notices *notices, const struct process *process, const char *path,
		       uint64_t ns);

/* A process that had mapped a file had ended before the file was probed. */
void notices_missed_file(struct notices *notices, const struct process *process, const char *path);

/* Nothing is probed in a process; `root`: the user has named it, `only_samples`: only samples are probed. */
void notices_unprobed(const struct notices *notices, struct process *process, bool root,
		      bool only_samples);

/* The first thread of a process that runs has ended: the kernel may drop probes that are tied to it. */
void notices_first_thread_ended(const struct notices *notices, struct process *process);

#endif
