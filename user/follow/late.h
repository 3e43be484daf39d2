/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts files and processes that ran before their probes were attached, or run without them. The
 * number of calls missed is unknown.
 */
#ifndef FOLLOW_LATE_H
#define FOLLOW_LATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "discover/process.h"
#include "model/module.h"
#include "follow/notices.h"

struct late {
	struct notices *notices;
	bool by_process; /* probes belong to a process, not to its address space */
	uint64_t start_ns; /* when recording began; 0 = not yet, and nothing is late */
	uint64_t files, children, shared; /* the losses files_late, children_late, memory_shared */
	uint64_t missed; /* as the loss files_missed */
	struct table sharers; /* of `shared`: start times by pid */
};

void late_free(struct late *late);

/* A file with allocator functions, mapped at `since_ns`, has been probed in a process. */
void late_file(struct late *late, struct process *process, const char *path, uint64_t since_ns);

/*
 * A file, mapped at `since_ns`, could not be opened, or could not be probed because its process has
 * ended. Counts it if allocator calls in it may be missing: a file that cannot be read although it
 * is mapped is reported by the plan instead. A file that could not be opened may have an allocator,
 * unless it is mapped shared: it counts once.
 */
void late_ended(struct late *late, struct process *process, struct module *file, uint64_t since_ns);

/* A new process, started at `since_ns`, has been probed. */
void late_child(struct late *late, struct process *process, uint64_t since_ns);

/*
 * `process` shares the memory of `owner`, a traced process or NULL. Counts it if its calls are not
 * seen.
 */
void late_sharer(struct late *late, const struct process *process, struct process *owner);

/* The process of this pid has ended. */
void late_forget(struct late *late, uint32_t pid);

#endif
