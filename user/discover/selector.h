/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which processes are meant, where they are not named by their pids: all, or those that have a name, a command line, a user, or
 * are in a cgroup; where several are given, those that meet each.
 */
#ifndef DISCOVER_SELECTOR_H
#define DISCOVER_SELECTOR_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/pattern.h"
#include "system/cgroup.h"

enum selector_kind {
	SELECT_NONE,
	SELECT_SOME, /* those that meet all of what is given */
	SELECT_ALL,
};

/* How a cgroup is named. */
enum selector_group {
	SELECT_CGROUP, /* by its path */
	SELECT_CONTAINER, /* by the id of a container */
	SELECT_UNIT, /* by a unit of systemd */
	SELECT_GROUPS,
};

struct selector {
	enum selector_kind kind;
	const char *name; /* the kernel's for the process, or that of its file; NULL = any */
	struct pattern command; /* found in the arguments, or the title; {0} = any */
	bool by_user;
	uid_t user; /* effective */
	const char *groups[SELECT_GROUPS]; /* names; NULL = any */
	char *folders[SELECT_GROUPS]; /* of these; owned; NULL = not found yet */
};

void selector_free(struct selector *selector);

/* Find the groups that were not found before. Returns 0 or, with `error` filled, -ENOENT. */
int selector_find_groups(struct selector *selector, struct error *error);

/* Append the processes that may be meant: selector_has decides. Looks for groups that were not found. */
void selector_list(struct selector *selector, struct pid_list *list);

/* Is this process meant? Never the tracer itself, nor what it has started. */
bool selector_has(const struct selector *selector, pid_t pid);

#endif
