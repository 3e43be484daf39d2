/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a process did before its probes were in, as far as calls of that time are missing: in files that were probed
 * after it had mapped them, before it was probed itself, and in processes that run in its memory.
 */
#ifndef MODEL_LATENESS_H
#define MODEL_LATENESS_H

#include <stddef.h>
#include <stdint.h>

/* Files that are listed; further ones are counted. */
#define LATE_FILES_MAX 16

struct late_file {
	char *path; /* untrusted bytes */
	uint64_t ns; /* from the mapping to the probes */
};

struct lateness {
	struct late_file files[LATE_FILES_MAX];
	size_t file_count;
	uint64_t files_unlisted;
	uint64_t child_ns; /* from its beginning to its probes; 0 = it was probed from the start */
	uint64_t memory_shared; /* processes that ran in its memory, unprobed */
};

/* Add a file to `*lateness`, which is made if it is NULL. */
void lateness_add_file(struct lateness **lateness, const char *path, uint64_t ns);
/* The process, or a program of it, ran for so long without probes. */
void lateness_add_child(struct lateness **lateness, uint64_t ns);
/* Another process ran in its memory. */
void lateness_add_shared(struct lateness **lateness);

/* The file that was probed last after its mapping; NULL = none was late. Accepts NULL. */
const struct late_file *lateness_worst_file(const struct lateness *lateness);

/* NULL of NULL. Free with lateness_free. */
struct lateness *lateness_copy(const struct lateness *lateness);

/* Accepts NULL. */
void lateness_free(struct lateness *lateness);

#endif
