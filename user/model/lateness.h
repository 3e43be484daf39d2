/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records where a process ran unprobed, so that calls are missing: in files probed after they were
 * mapped, before the process itself was probed, and in processes that share its memory.
 */
#ifndef MODEL_LATENESS_H
#define MODEL_LATENESS_H

#include <stddef.h>
#include <stdint.h>

/* Limit of listed files; further ones are only counted. */
#define LATE_FILES_MAX 16

struct late_file {
	char *path; /* untrusted bytes */
	uint64_t ns; /* from the mapping to the probes */
};

struct lateness {
	struct late_file files[LATE_FILES_MAX];
	size_t file_count;
	uint64_t files_unlisted;
	uint64_t child_ns; /* from its start to its probes; 0 = it was probed from the start */
	uint64_t memory_shared; /* unprobed processes that shared its memory */
};

/* Add a file to `*lateness`, which is created if NULL. */
void lateness_add_file(struct lateness **lateness, const char *path, uint64_t ns);
/* The process, or a program that it ran, was unprobed for this long. */
void lateness_add_child(struct lateness **lateness, uint64_t ns);
/* Another process shared its memory. */
void lateness_add_shared(struct lateness **lateness);

/* The file with the longest delay; NULL = none was late. Accepts NULL. */
const struct late_file *lateness_worst_file(const struct lateness *lateness);

/* NULL gives NULL. Free with lateness_free. */
struct lateness *lateness_copy(const struct lateness *lateness);

/* Accepts NULL. */
void lateness_free(struct lateness *lateness);

#endif
