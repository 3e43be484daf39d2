/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mounts and mount namespaces of processes. */
#ifndef SYSTEM_MOUNT_LIST_H
#define SYSTEM_MOUNT_LIST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The next mount point of a text of /proc/PID/mountinfo from `*at` on, which is moved behind its line: a copy without
 * escapes, to be freed, or NULL at the end. Left out are file systems on which nothing is executed (proc, sysfs, devices
 * ...), those that a server or a process answers for (NFS, CIFS, FUSE ...), and lines that cannot be read.
 */
char *mount_list_next(const char **at);

enum mount_kind {
	MOUNT_UNKNOWN, /* the text does not have the mount */
	MOUNT_LOCAL, /* of a type that asks no server */
	MOUNT_REMOTE, /* of any other type */
	MOUNT_REMOTE_OF_USER, /* the same, and its server is a process of a user other than root */
};

/* The kind of the mount with a number, as /proc/PID/fdinfo has it, in a text of /proc/PID/mountinfo. */
enum mount_kind mount_list_kind(const char *text, uint64_t number);

/* Has a text of /proc/PID/mountinfo a mount of this device, of a type that asks no server? */
bool mount_list_has_local(const char *text, unsigned int major, unsigned int minor);

/* Has a text of /proc/PID/mountinfo a mount of this device and type? */
bool mount_list_has_type(const char *text, const char *type, unsigned int major,
			 unsigned int minor);

/* Has a text of /proc/PID/mountinfo a mount that a walk along a path may have to wait for? Those of the kernel's own are none. */
bool mount_list_has_remote(const char *text);

/* Device and inode of the mount namespace of a process. Returns 0 or a negative errno. */
int mount_namespace_identify(pid_t pid, dev_t *ret_device, ino_t *ret_inode);

#endif
