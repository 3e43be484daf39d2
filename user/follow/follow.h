/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which processes are traced: those that the user names, those that a selector matches, and
 * descendants of traced ones; and what happens when they end.
 */
#ifndef FOLLOW_FOLLOW_H
#define FOLLOW_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "discover/process.h"
#include "discover/selector.h"
#include "interp/jit_names.h"
#include "kernel/maps.h"
#include "follow/ended.h"
#include "follow/filters.h"
#include "follow/process_table.h"
#include "follow/scan.h"

/*
 * Detaching is slow in the kernel. While more links than this wait to be closed, new children are
 * let go: following every child of a fork flood would leave thousands of probes in place after it.
 * A process has about 60 links with perf events, which the kernel closes one by one, and otherwise
 * a few. A limit of 64 let three of eight programs of a shell go.
 */
#define FOLLOW_PENDING_MAX 256

/* A process that was born or has executed another program, and may have to be traced. */
struct new_process {
	uint32_t pid;
	uint32_t parent; /* 0 = unknown: an exec */
	bool is_descendant; /* of a traced process, and should be followed */
	uint64_t time_ns;
};

#define SELECT_NOW 1

struct follow {
	struct process_table *processes;
	struct scan *scan;
	struct filters *filters;
	struct ended *ended;
	struct jit_names *jit_names;
	const struct maps *maps;
	const struct log *log;
	struct selector *selector; /* NULL = none */
	bool select_once; /* only the processes that match at the first hit */
	bool children; /* descendants are followed */
	bool tree; /* also existing ones; tracing continues until the last of them has ended */
	struct new_process *new_processes; /* not handled yet */
	size_t new_count, new_capacity;
	bool has_matched; /* the selector has found a process */
	bool has_selected; /* and that process is traced */
	uint64_t select_ns; /* next run of the selector; SELECT_NOW; 0 = never */
	uint64_t children_missed; /* children that should have been followed */
	bool children_unknown; /* some may have no record */
};

void follow_free(struct follow *follow);

/*
 * Trace a process that the user has named; takes ownership. `paths`, NULL-terminated, lists files
 * that it is going to map; NULL = none. Returns 0 or a negative errno with `error` filled.
 */
int follow_add(struct follow *follow, struct process *process, char *const *paths,
	       struct error *error);

/*
 * Trace a process if it still exists; its program began at `time_ns`. Takes ownership. If it cannot
 * be traced, logs a message and returns false.
 */
bool follow_process(struct follow *follow, struct process *process, uint64_t time_ns, bool root);

/* Publish the target_id of a process to BPF, for files that are probed in all processes at once. */
void follow_publish(const struct follow *follow, const struct process *process);

/* Can the selector still match new processes? */
bool follow_selects(const struct follow *follow);

/* Trace the running processes that the selector matches. */
void follow_select(struct follow *follow);

/* The same, if due: names and cgroups change without a record. */
void follow_select_due(struct follow *follow);

/* Trace the running descendants of traced processes. */
void follow_descendants(struct follow *follow);

/* Queue a process that may have to be traced; follow_new_processes handles the queue. */
void follow_add_new(struct follow *follow, const struct new_process *created);
void follow_new_processes(struct follow *follow);

/* Records were lost: find children in /proc. Those that have ended are missed. */
void follow_find_children(struct follow *follow);

/* Does a vfork child still run in the memory of its parent? False if `parent` is 0. */
bool follow_shares_memory(const struct process *process, uint32_t parent);

/* Have all processes ended that keep tracing alive, and can no other one come? */
bool follow_is_over(const struct follow *follow);

/* Handle the end of processes, all of whose records have been handled. */
void follow_end(struct follow *follow, struct process *const *processes, size_t count);

/* The maps no longer hold anything of ended processes: release their slots. */
void follow_release(struct follow *follow);

/* Warn, once each, of processes in which nothing is probed, or whose probes the kernel may drop. */
void follow_warn(const struct follow *follow, uint64_t time_ns);

#endif
