/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See memory_sharer.h. */
#include "system/memory_sharer.h"

#include <dirent.h>
#include <linux/kcmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"
#include "system/proc.h"

#define FIRST_NAMESPACE 0xeffffffcu /* the inode of the first pid namespace, in each kernel */

static bool sharer_is_one(pid_t pid, pid_t other)
{
	return !syscall(SYS_kcmp, pid, other, KCMP_VM, 0, 0);
}

pid_t memory_sharer_find(const char *proc_root, pid_t pid)
{
	/* One that has ended has no memory, as threads of the kernel have none. */
	const pid_t thread = proc_memory_thread(proc_root, pid);
	const struct dirent *entry;
	pid_t other, found = 0;
	DIR *folder;

	/* Where kernels cannot compare, or the caller may not. */
	if (!sharer_is_one(thread, thread))
		return -1;
	folder = opendir(proc_root);
	if (!folder)
		return -1;
	while (!found && (entry = readdir(folder))) {
		other = (pid_t)strtol(entry->d_name, NULL, 10);
		if (other > 0 && other != pid && sharer_is_one(thread, other))
			found = other;
	}
	closedir(folder);
	return found;
}

bool memory_sharer_is_blind(const char *proc_root)
{
	char *path = memory_format("%s/self/ns/pid", proc_root);
	struct stat status;
	bool is_first = !stat(path, &status) && status.st_ino == FIRST_NAMESPACE;

	free(path);
	return !is_first;
}
