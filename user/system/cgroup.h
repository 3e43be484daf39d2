/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Control groups: where one is in the file system, and which processes are in it. */
#ifndef SYSTEM_CGROUP_H
#define SYSTEM_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define CGROUP_ROOT "/sys/fs/cgroup"

struct pid_list {
	pid_t *pids;
	size_t count, capacity;
};

void pid_list_add(struct pid_list *list, pid_t pid);
bool pid_list_has(const struct pid_list *list, pid_t pid);
void pid_list_free(struct pid_list *list);

/*
 * The folder of a group: `path` itself if it is one, or else `path` below one of the hierarchies under `root`
 * (CGROUP_ROOT), as /proc/PID/cgroup shows it. Free with free(). NULL with `error` filled (ERROR_TARGET) if
 * there is none.
 */
char *cgroup_find(const char *root, const char *path, struct error *error);

/*
 * The folder of the group of a container, whose id may be shortened to what is unambiguous. Docker, containerd, CRI-O and
 * Podman name such groups after the container's id, with a runtime's name and dashes or dots around it. Free with free().
 * NULL with `error` filled if there is none (ERROR_TARGET), or more than one (ERROR_USAGE): two groups are the same
 * container's if they have the same path in hierarchies of version 1. Groups of users, who may give them any name, count
 * only where none of root's has the id.
 */
char *cgroup_find_container(const char *root, const char *id, struct error *error);

/*
 * The folder of the group of a systemd unit; ".service" is added to a name without a type. systemd need not run: the name of
 * the folder is what counts. Units of the machine come before units of containers and of users with the same name. Free with
 * free(). NULL with `error` filled if there is none (ERROR_TARGET), or more than one (ERROR_USAGE).
 */
char *cgroup_find_unit(const char *root, const char *name, struct error *error);

/*
 * Append the processes of a group and of the groups in it, as the tracer's pid namespace has them. Returns 0, or a
 * negative errno if the group is gone.
 */
int cgroup_list(const char *folder, struct pid_list *list);

#endif
