/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which processes are traced: those that the user names, those that a selector means, and descendants of traced ones; and what
 * becomes of them at their end.
 */
#ifndef SESSION_FOLLOW_H
#define SESSION_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/log.h"
#include "discover/process.h"
#include "discover/selector.h"
#include "interp/jit_names.h"
#include "kernel/maps.h"
#include "session/ended.h"
#include "session/filters.h"
#include "session/process_table.h"
#include "session/scan.h"

/*
 * The kernel takes long to take probes out. While there are more than this many links to close, children are let go: who
 * follows all of a flood still has the probes of thousands in place when the flood is over. A process has about 60 links with
 * perf events, which the kernel closes one after the other, and a few with others. With room for 64, three of eight programs
 * that a shell executes were let go.
 */
#define FOLLOW_PENDING_MAX 256

/* A process that has come into being or executed another program, and may have to be traced. */
struct new_process {
	uint32_t pid;
	uint32_t parent; /* 0 = unknown: an exec */
	bool is_descendant; /* of a traced process, and to be followed */
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
	bool select_once; /* the processes that are there when the first is found, and no others */
	bool children; /* descendants are followed */
	bool tree; /* also those that were there before; tracing goes on until the last of them has ended */
	struct new_process *new_processes; /* that are yet to be handled */
	size_t new_count, new_capacity;
	bool has_matched; /* the selector has found a process */
	bool has_selected; /* and it is traced */
	uint64_t select_ns; /* when it is asked again; SELECT_NOW; 0 = never */
	uint64_t children_missed; /* that were to be followed */
	bool children_unknown; /* there may be some without a record */
};

void follow_free(struct follow *follow);

/*
 * Trace a process that the user has named, which is taken over. `paths`, ended by NULL, are files that it is going to map; NULL =
 * none. Returns 0 or a negative errno with `error` filled.
 */
int follow_add(struct follow *follow, struct process *process, char *const *paths,
	       struct error *error);

/*
 * Trace a process if it still exists; its program began at `time_ns`. Takes ownership. False if it is not traced, with a
 * message.
 */
bool follow_process(struct follow *follow, struct process *process, uint64_t time_ns, bool root);

/* Publish the target_id of a process to BPF, where files are probed for all processes at once. */
void follow_publish(const struct follow *follow, const struct process *process);

/* May processes come that the selector means? */
bool follow_selects(const struct follow *follow);

/* Trace the processes that the selector means and that run now. */
void follow_select(struct follow *follow);

/* The same when it is time, because names and cgroups change without a record. */
void follow_select_due(struct follow *follow);

/* Trace the descendants of traced processes that run now. */
void follow_descendants(struct follow *follow);

/* A process may have to be traced; follow_new_processes does so. */
void follow_add_new(struct follow *follow, const struct new_process *created);
void follow_new_processes(struct follow *follow);

/* Records were lost: find children in /proc. Those that have ended meanwhile are missed. */
void follow_find_children(struct follow *follow);

/* Does a child of vfork run in the memory of its parent still? False if `parent` is 0. */
bool follow_shares_memory(const struct process *process, uint32_t parent);

/* Have all processes ended that tracing goes on for, and can there be no others? */
bool follow_is_over(const struct follow *follow);

/* These processes have ended, and all that they have reported has been handled. */
void follow_end(struct follow *follow, struct process *const *processes, size_t count);

/* The maps hold nothing of ended processes any more: their slots may be reused. */
void follow_release(struct follow *follow);

/* Warn of processes in which nothing is probed, or whose probes the kernel may drop, once. */
void follow_warn(const struct follow *follow, uint64_t time_ns);

#endif
