/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Additional results of tracing without frees (--light): how the blocks in use were determined, and
 * what remains undecided. Plain data.
 */
#ifndef MODEL_LIGHT_REPORT_H
#define MODEL_LIGHT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The heap of a process. */
struct light_heap {
	pid_t pid;
	const char *allocator; /* "glibc"; static; NULL = none was recognized */
	char *reason; /* why it was not examined: a phrase; NULL = it was; owned */
	uint64_t live_blocks, live_bytes; /* according to the allocator; usable bytes */
	uint64_t unknown_bytes; /* memory that was not understood */
	/* Live blocks that were not recorded: older than tracing, or from untraced calls. */
	uint64_t other_blocks, other_bytes;
	/* Recorded blocks that count as in use but may have been freed; requested bytes. */
	uint64_t undecided_blocks, undecided_bytes;
};

struct light_report {
	uint64_t look_ns; /* duration of the look */
	uint64_t ended_blocks; /* blocks found freed by looks since tracing began */
	bool inside; /* functions are probed inside instead of at their return, where possible */
	struct light_heap *heaps; /* owned */
	size_t count, capacity;
};

/* Zeroed. Free with light_report_free, which accepts NULL. */
struct light_report *light_report_new(void);
void light_report_free(struct light_report *report);
/* Append a zeroed item; valid until the next call. */
struct light_heap *light_report_add(struct light_report *report);

#endif
