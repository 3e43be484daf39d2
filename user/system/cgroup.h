/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Control groups: finding one in the file system, and listing its processes. */
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
 * The directory of a group: `path` itself if it is one, else `path` within one of the hierarchies
 * under `root` (CGROUP_ROOT), as /proc/PID/cgroup shows it. Free with free(). NULL with `error`
 * filled (ERROR_TARGET) if there is none.
 */
char *cgroup_find(const char *root, const char *path, struct error *error);

/*
 * The directory of a container's group. `id` may be an unambiguous prefix. Docker, containerd,
 * CRI-O and Podman name these groups after the container's id, decorated with the runtime's name,
 * dashes or dots. Free with free(). NULL with `error` filled if there is none (ERROR_TARGET), or
 * more than one (ERROR_USAGE). Groups of the same path in several version 1 hierarchies are one
 * container. Groups owned by ordinary users, who may choose any name, count only if none of root's
 * matches.
 */
char *cgroup_find_container(const char *root, const char *id, struct error *error);

/*
 * The directory of a systemd unit's group; ".service" is added to a name without a type. Matches
 * directory names, so systemd need not run. Units of the machine take precedence over units of
 * containers and of users with the same name. Free with free(). NULL with `error` filled if there
 * is none (ERROR_TARGET), or more than one (ERROR_USAGE).
 */
char *cgroup_find_unit(const char *root, const char *name, struct error *error);

/*
 * Append the pids of a group and its descendants, in the tracer's pid namespace. Returns 0, or a
 * negative errno if the group is gone.
 */
int cgroup_list(const char *folder, struct pid_list *list);

#endif
