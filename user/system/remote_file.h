/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Accesses files on file systems with a server that may never answer (FUSE, NFS and the like). A
 * process in such a call cannot be killed before the answer, so a helper process makes the call,
 * and is abandoned when it is late.
 */
#ifndef SYSTEM_REMOTE_FILE_H
#define SYSTEM_REMOTE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "system/mount_list.h"

/*
 * Does the file system of an O_PATH descriptor depend on a server? Accesses nothing to find out.
 * `pid` is a process in whose mount namespace the file was found, 0 for the caller. MOUNT_REMOTE
 * also if the mount is in neither namespace; MOUNT_REMOTE_OF_USER also if only root of a user
 * namespace made it. Never MOUNT_UNKNOWN.
 */
enum mount_kind remote_file_kind(int path_fd, pid_t pid);

/*
 * The same for many files of a process: looks up each mount once, and reads the lists once. Mount
 * numbers are reused, so free it soon with remote_mounts_free, and check again before a file is
 * opened.
 */
struct remote_mounts;
struct remote_mounts *remote_mounts_new(pid_t pid);
void remote_mounts_free(struct remote_mounts *mounts);
enum mount_kind remote_mounts_kind(struct remote_mounts *mounts, int path_fd);

/* Work for the helper process. It runs on a copy of the caller's memory, and must not allocate. */
struct remote_work {
	/* Returns 0, a descriptor, or a negative errno. */
	int (*run)(struct remote_work *work);
	int fd; /* its only descriptor; AT_FDCWD = none */
	int patience_ms; /* time limit; 0 = 5 s, less after timeouts on the mount of `fd` */
	bool gives_fd; /* it returns a descriptor */
	void *facts; /* further results are written here; may be NULL with a size of 0 */
	size_t facts_size;
};

/*
 * Run some work in a helper process. Returns its result; -EIO if it crashed; or -ETIMEDOUT if it
 * was late. Without its own limit, that is after 5 seconds, and nothing else on that mount is tried
 * for a minute afterwards. Not thread-safe.
 */
int remote_file_work(struct remote_work *work);

#endif
