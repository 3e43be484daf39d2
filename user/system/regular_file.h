/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening files that others may have put there: of a device, a FIFO or a file of the kernel's, the open itself may do
 * something, or wait. Every path that a target can influence is opened here. Not for files of /proc or of the
 * tracer's own.
 */
#ifndef SYSTEM_REGULAR_FILE_H
#define SYSTEM_REGULAR_FILE_H

#include <sys/types.h>

enum regular_file_links {
	REGULAR_FILE_LINKS, /* symbolic links are followed, but not those of /proc that lead to open files */
	REGULAR_FILE_NO_LINKS, /* no part of the path may be a symbolic link: -ELOOP */
};

/*
 * Open the file at `path` for reading. Returns a descriptor of a regular file on a file system that stores files, or a
 * negative errno: -EACCES for any other kind (devices, FIFOs, sockets, files of /proc, /sys and the like), as execve has
 * it. A lease that another process holds on the file is not waited for (-EAGAIN).
 */
int regular_file_open(const char *path, enum regular_file_links links);

/*
 * The same from an O_PATH descriptor, or from a negative errno, which is returned. Closes `path_fd` in any case. `pid` is a
 * process in whose mount namespace it was found, 0 for the caller. -ETIMEDOUT: the file system asks a server, which does not answer.
 */
int regular_file_reopen(int path_fd, pid_t pid);

#endif
