/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the memory of a live process, for code that parses interpreters' structures. */
#ifndef INTERP_READER_H
#define INTERP_READER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/timed_call.h"
#include "interp/target_memory.h"

/* Time limit for absent pages. */
#define INTERP_READER_PATIENCE_NS 1000000000ull

struct interp_reader {
	pid_t pid;
	struct call_patience *patience; /* for the memory of all processes */
	bool hung; /* absent pages time out: read present pages only */
};

/* `reader` must live as long. */
struct target_memory interp_reader_memory(struct interp_reader *reader);

#endif
