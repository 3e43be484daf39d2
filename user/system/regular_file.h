/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening files that others may have put there: of a device or a FIFO the open itself may do something, or wait. Not
 * for files of /proc or of the tracer's own.
 */
#ifndef SYSTEM_REGULAR_FILE_H
#define SYSTEM_REGULAR_FILE_H

/*
 * Open the file at `path` for reading. Returns a descriptor of a regular file, or a negative errno: -EACCES for any
 * other kind, as execve has it. A lease that another process holds on the file is not waited for (-EAGAIN).
 */
int regular_file_open(const char *path);

/* The same from an O_PATH descriptor, or from a negative errno, which is returned. Closes `path_fd` in any case. */
int regular_file_reopen(int path_fd);

#endif
