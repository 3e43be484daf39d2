/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a process sees its files: see proc.h. Only links of /proc are read: no file system is asked for anything. */
#include "system/proc.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/path.h"
#include "system/proc_text.h"

static char *place_read(const char *proc_root, pid_t pid, const char *name)
{
	char *link = memory_format("%s/%d/%s", proc_root, (int)pid, name);
	char *path = proc_read_link(link);

	free(link);
	return path;
}

/* A directory may really be called "x (deleted)". */
static bool place_is_removed(const char *proc_root, pid_t pid)
{
	char *link = memory_format("%s/%d/cwd", proc_root, (int)pid);
	struct statx found;
	bool removed = !statx(AT_FDCWD, link, AT_STATX_DONT_SYNC, STATX_NLINK, &found) &&
		       !found.stx_nlink;

	free(link);
	return removed;
}

/* /proc shows paths from the root of the mount namespace on; the process sees them from its own. */
static char *place_of_process(const char *path, const char *root)
{
	const char *below = root ? path_below(path, root) : NULL;

	if (below)
		return memory_format("/%s", below);
	return *path == '/' && !root ? memory_copy_string(path) : NULL;
}

void proc_read_place(const char *proc_root, pid_t pid, struct proc_place *ret_place)
{
	char *directory = place_read(proc_root, pid, "cwd");
	char *namespace = place_read(proc_root, pid, "ns/mnt");
	struct proc_place place = { .root = place_read(proc_root, pid, "root") };

	if (place.root && !strcmp(place.root, "/")) {
		free(place.root);
		place.root = NULL;
	}
	if (namespace && sscanf(namespace, "mnt:[%" SCNu64 "]", &place.mount_namespace) != 1)
		place.mount_namespace = 0;
	if (directory && place_is_removed(proc_root, pid))
		proc_strip_deleted(directory);
	if (directory)
		place.directory = place_of_process(directory, place.root);
	free(namespace);
	free(directory);
	*ret_place = place;
}

void proc_place_free(struct proc_place *place)
{
	free(place->directory);
	free(place->root);
	*place = (struct proc_place){ 0 };
}
