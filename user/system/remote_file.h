/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of file systems that ask a server, which may never answer (FUSE, NFS and the like). A process in such a call
 * cannot be killed before the answer, so another process makes it, and is left behind when it is late.
 */
#ifndef SYSTEM_REMOTE_FILE_H
#define SYSTEM_REMOTE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "system/mount_list.h"

/*
 * May the file system of an O_PATH descriptor ask a server? Nothing is asked to find out. `pid` is a process in whose mount
 * namespace the file was found, 0 for the caller. MOUNT_REMOTE also where the mount is in neither namespace; MOUNT_REMOTE_OF_USER
 * also where it was made by root of a user namespace only. Never MOUNT_UNKNOWN.
 */
enum mount_kind remote_file_kind(int path_fd, pid_t pid);

/*
 * The same for many files of a process, `pid` as above: each mount is looked up once, and lists of them are read once. The number of
 * a mount may be another one's later: free it soon with remote_mounts_free, and ask again before a file is opened.
 */
struct remote_mounts;
struct remote_mounts *remote_mounts_new(pid_t pid);
void remote_mounts_free(struct remote_mounts *mounts);
enum mount_kind remote_mounts_kind(struct remote_mounts *mounts, int path_fd);

/* What another process is to do. It has a copy of the caller's memory, and must not allocate any. */
struct remote_work {
	/* Returns 0 or a descriptor, or a negative errno. */
	int (*run)(struct remote_work *work);
	int fd; /* the only descriptor that it has; AT_FDCWD = none */
	int patience_ms; /* 0 = as the mount of `fd` deserves it: that is the one that may not answer */
	bool gives_fd; /* what it returns is a descriptor */
	void *facts; /* what it has found out is written here; may be NULL with a size of 0 */
	size_t facts_size;
};

/*
 * Have another process do some work. Returns what it returned; -EIO if it crashed; or -ETIMEDOUT if the work did not end in
 * time. Without a time of its own that is 5 seconds, and for a minute nothing else that concerns the mount is tried after
 * that. Not for several threads at a time.
 */
int remote_file_work(struct remote_work *work);

#endif
