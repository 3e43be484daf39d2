/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What tracing without frees (--light) has beside its sites: how what is in use was found out, and what could not be. Plain data.
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
	char *reason; /* why it was not looked at: a phrase; NULL = it was; owned */
	uint64_t live_blocks, live_bytes; /* by the allocator; bytes that the program may use */
	uint64_t unknown_bytes; /* of its memory that was not understood */
	/* Of the live ones, those that were not recorded: older than tracing, or of calls that are not traced. */
	uint64_t other_blocks, other_bytes;
	/* Recorded ones that count as in use, though that could not be decided. Bytes as asked for. */
	uint64_t undecided_blocks, undecided_bytes;
};

struct light_report {
	uint64_t look_ns; /* how long it took to look */
	uint64_t ended_blocks; /* that looks have found freed, since tracing began */
	bool inside; /* what can be probed inside is, and its return is not */
	struct light_heap *heaps; /* owned */
	size_t count, capacity;
};

/* Zeroed. Free with light_report_free, which accepts NULL. */
struct light_report *light_report_new(void);
void light_report_free(struct light_report *report);
/* Append; valid until the next one. */
struct light_heap *light_report_add(struct light_report *report);

#endif
