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
	SELECT_ANY_GROUP,
	SELECT_CGROUP, /* by its path */
	SELECT_CONTAINER, /* by the id of a container */
	SELECT_UNIT, /* by a unit of systemd */
};

struct selector {
	enum selector_kind kind;
	const char *name; /* the kernel's for the process, or that of its file; NULL = any */
	struct pattern command; /* found in the arguments, or the title; {0} = any */
	bool by_user;
	uid_t user; /* effective */
	enum selector_group group;
	const char *group_name;
	char *folder; /* of the group, or of one that it is in; owned; NULL = it was not found yet */
};

void selector_free(struct selector *selector);

/* Find the group. Returns 0, also if none is given or it was found before, or a negative errno with `error` filled. */
int selector_find_group(struct selector *selector, struct error *error);

/* Append the processes that may be meant: whether they are, selector_has knows. Looks for a group that was not found. */
void selector_list(struct selector *selector, struct pid_list *list);

/* Is this process meant? Never the tracer itself, nor what it has started. */
bool selector_has(const struct selector *selector, pid_t pid);

#endif
