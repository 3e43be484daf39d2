/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probe plan, which grows file by file as processes map files, and what the BPF programs need
 * of each file.
 */
#ifndef FOLLOW_PLANNED_FILES_H
#define FOLLOW_PLANNED_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "discover/process.h"
#include "kernel/maps.h"
#include "model/module.h"
#include "model/stack.h"
#include "probe/plan.h"
#include "follow/notices.h"

struct decoder;

/*
 * A file whose allocator functions are in the plan, identified by its real device and inode: on
 * overlays, /proc/PID/maps shows others.
 */
struct planned_file {
	uint64_t device, inode;
	uint32_t module;
	size_t first, count; /* its probes in the plan */
	/* File offsets of the C library's allocator; 0, 0 = not in this file. */
	uint64_t inner_low, inner_high;
	bool samples; /* it publishes USDT samples */
	bool allocates; /* as in struct module */
};

struct planned_files {
	struct plan plan;
	struct planned_file *items;
	size_t count, capacity;
	struct module_list *modules;
	struct decoder *decoder;
	const struct maps *maps;
	struct notices *notices;
};

/* Initialize `files`, whose pointers are set, with an empty plan. Free with planned_files_free. */
void planned_files_init(struct planned_files *files, const struct plan_options *options);
void planned_files_free(struct planned_files *files);

/*
 * The file of a module that `process` maps or is about to map; planned now if it is new. Valid
 * until the next call. NULL if it cannot be read.
 */
const struct planned_file *planned_files_plan(struct planned_files *files,
					      const struct process *process, uint32_t module);

/*
 * The planned file behind `module`, which may be another name of it. NULL if nothing in it is
 * probed.
 */
const struct planned_file *planned_files_get(const struct planned_files *files, uint32_t module);

/* Is a module an open file that was not planned yet? */
bool planned_files_lack(const struct planned_files *files, uint32_t module);

/* Does a frame lie in the C library's allocator? */
bool planned_files_hold_inner(const struct planned_files *files, const struct frame *frame);

/* The module is about to be closed. Its probes stay in the plan in case the same file returns. */
void planned_files_forget(struct planned_files *files, uint32_t module);

#endif
