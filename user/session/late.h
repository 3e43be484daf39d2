/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts what ran before its probes were attached, or runs without. The number of calls missed is unknown. */
#ifndef SESSION_LATE_H
#define SESSION_LATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "discover/process.h"
#include "model/module.h"
#include "session/notices.h"

struct late {
	struct notices *notices;
	bool by_process; /* probes are tied to a process, not to its memory */
	uint64_t start_ns; /* when recording began; 0 = not yet, and nothing is late */
	uint64_t files, children, shared; /* the losses files_late, children_late, memory_shared */
	uint64_t missed; /* as the loss files_missed */
	struct table sharers; /* of `shared`: start times by pid */
};

void late_free(struct late *late);

/* A file with allocator functions, which was mapped at `since_ns`, has got its probes in a process. */
void late_file(struct late *late, struct process *process, const char *path, uint64_t since_ns);

/*
 * A file, which was mapped at `since_ns`, could not be opened, or its probes not be attached because its process has ended: count
 * it, if calls of an allocator in it may be missing. Whether a file that is not open has an allocator is unknown: it counts once.
 */
void late_ended(struct late *late, struct process *process, struct module *file, uint64_t since_ns);

/* A new process, which began at `since_ns`, has got its probes. */
void late_child(struct late *late, struct process *process, uint64_t since_ns);

/* `process` runs in the memory of `owner`, which is traced (NULL: is not): are its calls seen? */
void late_sharer(struct late *late, const struct process *process, struct process *owner);

/* The process of this pid has ended. */
void late_forget(struct late *late, uint32_t pid);

#endif
