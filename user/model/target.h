/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process that is traced. */
#ifndef MODEL_TARGET_H
#define MODEL_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/lateness.h"

#define COMM_MAX 16

/* Memory usage of a process at one moment, as counted by the kernel. */
struct target_usage {
	bool known; /* the figures below are valid, except pss_bytes */
	uint64_t rss_bytes, swap_bytes;
	uint64_t threads;
	bool pss_known;
	uint64_t pss_bytes; /* proportional share: a shared page is divided among its processes */
};

struct target {
	int pid; /* in the tracer's own pid namespace, as users type and read it */
	int parent; /* the pid of its parent when it was found; 0 = unknown */
	int pidfd; /* refers to this process even if its pid is used again; -1 = none */
	char comm[COMM_MAX]; /* from the kernel: untrusted bytes */
	char *exe; /* target of /proc/PID/exe; NULL = unknown */
	char *directory; /* its working directory when found, as it sees it; NULL = unknown */
	char *root; /* its root directory, prefix of its mappings' paths; NULL = "/" */
	uint64_t mount_namespace; /* an inode; 0 = unknown */
	/* CLOCK_MONOTONIC time at which its present program began; 0 = before attach. */
	uint64_t exec_ns;
	bool exited;
	bool files_known; /* the next two are valid */
	uint64_t files_first, files; /* open descriptors at the attach, and recently */
	struct target_usage usage; /* at the last snapshot */
	struct lateness *late; /* owned; NULL = it was never late */
};

/* Free the texts of `target`, which is part of another struct. */
void target_clear(struct target *target);

/* How many more descriptors are open than at the attach. */
uint64_t target_files_grown(const struct target *target);

/* A copy, without the pidfd. Free with target_free. */
struct target *target_copy(const struct target *target);
void target_free(struct target *target);

#endif
