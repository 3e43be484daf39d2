/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mounts and mount namespaces of processes. */
#ifndef SYSTEM_MOUNT_LIST_H
#define SYSTEM_MOUNT_LIST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The next mount point in a text of /proc/PID/mountinfo, from `*at` on, which advances: an
 * unescaped copy, to be freed, or NULL at the end. Skips file systems from which nothing is
 * executed (proc, sysfs, devices ...), those backed by a server or a process (NFS, CIFS, FUSE ...),
 * and malformed lines.
 */
char *mount_list_next(const char **at);

enum mount_kind {
	MOUNT_UNKNOWN, /* not in the text */
	MOUNT_LOCAL, /* of a type without a server */
	MOUNT_REMOTE, /* of any other type */
	/* MOUNT_REMOTE, and the server is a process of a user other than root */
	MOUNT_REMOTE_OF_USER,
};

/*
 * The kind of the mount with this number (as in /proc/PID/fdinfo) in a text of /proc/PID/mountinfo.
 */
enum mount_kind mount_list_kind(const char *text, uint64_t number);

/* Does a text of /proc/PID/mountinfo have a mount of this device, of a type without a server? */
bool mount_list_has_local(const char *text, unsigned int major, unsigned int minor);

/* Does a text of /proc/PID/mountinfo have a mount of this device and type? */
bool mount_list_has_type(const char *text, const char *type, unsigned int major,
			 unsigned int minor);

/*
 * Does a text of /proc/PID/mountinfo have a mount on which a path walk may have to wait? The
 * kernel's own file systems are none.
 */
bool mount_list_has_remote(const char *text);

/* Device and inode of a process's mount namespace. Returns 0 or a negative errno. */
int mount_namespace_identify(pid_t pid, dev_t *ret_device, ino_t *ret_inode);

#endif
