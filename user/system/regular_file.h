/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening files that others may have put there: of a device, a FIFO or a file of the kernel's, the open itself may do
 * something, or wait. Every path that a target can influence is opened here. Not for files of /proc or of the
 * tracer's own.
 */
#ifndef SYSTEM_REGULAR_FILE_H
#define SYSTEM_REGULAR_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct remote_mounts; /* system/remote_file.h */

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
 * Files of file systems that ask a server are copied by another process (remote_file.h), since any later look at them could
 * wait for ever: what is opened then is the copy, which no other process can change.
 */
struct file_origin {
	int path_fd; /* the file itself if there is a copy, as an O_PATH descriptor, for probes; 0 = it is none: standard input is open */
	bool of_user; /* its server is a process of a user other than root */
	struct stat status; /* of the file itself; st_ino is 0 if that is not known */
	uint64_t device, inode; /* by which /proc/PID/maps names it; 0 = not known */
};

/* Bytes that all copies that are kept may have, by the memory that the control group allows. One may have half of what is left. */
uint64_t regular_file_copies_max(void);

/*
 * The same from an O_PATH descriptor, or from a negative errno, which is returned. Closes `path_fd` in any case. `pid` is a
 * process in whose mount namespace it was found, 0 for the caller. -ETIMEDOUT: the file system asks a server, which does not
 * answer; -EFBIG: it does, but the copy would be too large.
 */
int regular_file_reopen(int path_fd, pid_t pid);

/* The same, where more is wanted than the content. A copy has at most `most` bytes. `ret_origin->path_fd` is the caller's. */
int regular_file_reopen_as(int path_fd, pid_t pid, uint64_t most, struct file_origin *ret_origin);

/*
 * What memory may be where a file is mapped that an O_PATH descriptor is of. Nothing is asked of it. `pid` as above.
 */
enum mapped_kind {
	MAPPED_DEVICE, /* of a device, or of a file that the kernel makes up: a read of the memory may have an effect */
	MAPPED_REMOTE, /* of a stored file; a read of the file itself may ask a server */
	MAPPED_LOCAL,
	MAPPED_HUGE, /* of hugetlbfs, whose pages are in no RSS */
};

enum mapped_kind regular_file_mapped_kind(int path_fd, pid_t pid);
/* The same for many files of a process: `mounts` are its. */
enum mapped_kind regular_file_mapped_kind_in(int path_fd, struct remote_mounts *mounts);

/*
 * Nothing secret is in an ELF file. Returns `fd` if it is one. Otherwise closes it and returns -1, also for a negative errno.
 */
int regular_file_keep_elf(int fd);

/*
 * The kernel reads the pages of a file in which it puts a probe, while no process of the machine can fork. Have them read before
 * that: `path_fd` is that of a file_origin. Returns 0 or a negative errno, as regular_file_reopen.
 */
int regular_file_warm(int path_fd, const uint64_t *offsets, size_t count);

#endif
