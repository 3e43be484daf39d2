/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interpreters of the session's processes: finds them, publishes them to the BPF programs, and
 * names their frames. A new process is searched again until its interpreter runs.
 */
#ifndef KERNEL_INTERP_TABLE_H
#define KERNEL_INTERP_TABLE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "discover/process.h"
#include "model/gc_clock.h"
#include "model/module.h"
#include "model/stack.h"
#include "interp_abi.h"

struct decoder;
struct interp_table;

/* Maps of the BPF programs. */
struct interp_maps {
	int processes; /* interp_processes */
	int codes; /* interp_codes */
	uint32_t *any; /* interp_any */
};

/* `modules` and `log` must outlive the table. Free with interp_table_free. */
struct interp_table *interp_table_new(const struct module_list *modules, struct decoder *decoder,
				      const struct log *log, const struct interp_maps *maps);
void interp_table_free(struct interp_table *table);

/* The pool of frame names, to hold them longer. */
struct name_pool *interp_table_pool(const struct interp_table *table);

/* A process has new mappings, perhaps an interpreter's. */
void interp_table_see(struct interp_table *table, const struct process *process,
		      uint32_t target_id);
/* The process runs another program, or has ended: its interpreter is gone. */
void interp_table_forget(struct interp_table *table, const struct process *process);
/* The process is about to be freed. */
void interp_table_drop(struct interp_table *table, const struct process *process);

/* The module is about to be closed; no running process maps it. */
void interp_table_forget_module(struct interp_table *table, uint32_t module);

/* Search processes that are due. Returns the time of the next call (CLOCK_MONOTONIC), 0 = none. */
uint64_t interp_table_poll(struct interp_table *table, uint64_t now_ns);

/* The garbage collector of a process; NULL = none known. */
const struct gc_clock *interp_table_gc_clock(struct interp_table *table,
					     const struct process *process);

/*
 * A place where an interpreter frees code: to be probed with CALL_CODE_END on the first argument.
 */
struct interp_point {
	const struct process *process;
	uint32_t target_id;
	uint32_t module;
	uint64_t offset; /* in the module's file */
};

/* Take a point that is not probed yet; each is returned once. False if there is none. */
bool interp_table_next_point(struct interp_table *table, struct interp_point *ret_point);
/* The point is probed. Until then BPF programs read all code of the process each time. */
void interp_table_point_set(struct interp_table *table, const struct interp_point *point);

/*
 * Some frees of the process are not seen from now on: do not cache code by its address unless its
 * end is probed.
 */
void interp_table_disable_memo(struct interp_table *table, struct process *process);

/*
 * Merge the interpreter frames of `record` into a stack of `process` with resolved native frames.
 * Takes ownership of `stack` and returns its replacement, with names valid as long as the table.
 */
struct stack *interp_table_merge(struct interp_table *table, const struct process *process,
				 struct stack *stack, const struct interp_record *record);

#endif
