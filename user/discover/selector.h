/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes are meant, where they are not named by their pids: all that have a name, are in a cgroup, or all. */
#ifndef DISCOVER_SELECTOR_H
#define DISCOVER_SELECTOR_H

#include <stdbool.h>
#include <sys/types.h>

#include "system/cgroup.h"

enum selector_kind {
	SELECT_NONE,
	SELECT_NAME, /* by the kernel's name for the process, or by that of its file */
	SELECT_CGROUP, /* in this group, or in one that is in it */
	SELECT_ALL,
};

struct selector {
	enum selector_kind kind;
	const char *name; /* SELECT_NAME */
	char *folder; /* SELECT_CGROUP: owned */
};

void selector_free(struct selector *selector);

/* Append the processes that may be meant: whether they are, selector_has knows. */
void selector_list(const struct selector *selector, struct pid_list *list);

/* Is this process meant? Never the tracer itself, nor what it has started. */
bool selector_has(const struct selector *selector, pid_t pid);

#endif
