/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Selects processes other than by pid: all, or those with a name, a command line, a user or a
 * cgroup; several criteria must all match.
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
	SELECT_SOME, /* processes that match all criteria */
	SELECT_ALL,
};

/* Ways to name a cgroup. */
enum selector_group {
	SELECT_CGROUP, /* by its path */
	SELECT_CONTAINER, /* by the id of a container */
	SELECT_UNIT, /* by a unit of systemd */
	SELECT_GROUPS,
};

struct selector {
	enum selector_kind kind;
	const char *name; /* name of the process or of its file; NULL = any */
	struct pattern command; /* matches the arguments, or the title; {0} = any */
	bool by_user;
	uid_t user; /* effective */
	const char *groups[SELECT_GROUPS]; /* names; NULL = any */
	char *folders[SELECT_GROUPS]; /* their directories; owned; NULL = not found yet */
};

void selector_free(struct selector *selector);

/* Find groups not found yet. Returns 0 or, with `error` filled, -ENOENT. */
int selector_find_groups(struct selector *selector, struct error *error);

/* Append candidates; selector_has decides. Searches groups not found yet. */
void selector_list(struct selector *selector, struct pid_list *list);

/* Is this process selected? Never the tracer itself, nor what it has started. */
bool selector_has(const struct selector *selector, pid_t pid);

#endif
