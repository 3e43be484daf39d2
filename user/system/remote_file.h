/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening files of file systems that ask a server, which may never answer (FUSE, NFS and the like). A process in such a call
 * cannot be killed before the answer, so another process makes it, and is left behind when it is late.
 */
#ifndef SYSTEM_REMOTE_FILE_H
#define SYSTEM_REMOTE_FILE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * May the file system of an O_PATH descriptor ask a server? Nothing is asked to find out. `pid` is a process in whose mount
 * namespace the file was found, 0 for the caller. True also where the mount is in neither namespace.
 */
bool remote_file_is(int path_fd, pid_t pid);

/*
 * Have another process call `open_file` on an O_PATH descriptor: it returns a descriptor or a negative errno. Returns what it
 * returned, or -ETIMEDOUT if the call did not end in 5 seconds. For a minute no other file of that mount is tried then.
 * Not for several threads at a time.
 */
int remote_file_open(int path_fd, int (*open_file)(int path_fd));

#endif
