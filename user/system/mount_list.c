/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See mount_list.h. */
#include "system/mount_list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"

/*
 * File systems whose files the kernel reads itself, and on which something can be executed. Others ask a server or a
 * process, which may refuse to let the tracer open what its user may open, or may never answer.
 */
static bool mount_is_local(const char *type)
{
	static const char *const types[] = {
		"bcachefs", "btrfs",   "cramfs",    "erofs",	"exfat",  "ext2",     "ext3",
		"ext4",	    "f2fs",    "hugetlbfs", "iso9660",	"jfs",	  "msdos",    "nilfs2",
		"ntfs3",    "overlay", "ramfs",	    "reiserfs", "rootfs", "squashfs", "tmpfs",
		"udf",	    "vfat",    "xfs",	    "zfs",
	};
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i], type))
			return true;
	return false;
}

/* Blanks and backslashes of a mount point are written as three octal digits. */
static void mount_unescape(char *path)
{
	char *from = path, *to = path;

	while (*from) {
		if (*from == '\\' && strspn(from + 1, "01234567") >= 3) {
			*to++ = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 |
				       (from[3] - '0'));
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
}

/* "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAG...] - TYPE SOURCE OPTIONS" */
static char *mount_parse(const char *line, size_t length)
{
	char *copy = memory_format("%.*s", (int)length, line), *point = NULL, *separator;
	char type[64] = "";
	int start = 0, end = 0;

	separator = strstr(copy, " - ");
	if (separator)
		sscanf(separator, " - %63s", type);
	sscanf(copy, "%*s %*s %*s %*s %n%*s%n", &start, &end);
	if (separator && end > start && copy[start] == '/' && mount_is_local(type)) {
		point = memory_format("%.*s", end - start, copy + start);
		mount_unescape(point);
	}
	free(copy);
	return point;
}

char *mount_list_next(const char **at)
{
	char *point = NULL;

	while (**at && !point) {
		size_t length = strcspn(*at, "\n");

		point = mount_parse(*at, length);
		*at += length + ((*at)[length] == '\n');
	}
	return point;
}

/* File systems of the kernel's own. */
static bool mount_is_kernel(const char *type)
{
	static const char *const types[] = {
		"binder",    "binfmt_misc", "bpf",	"cgroup",   "cgroup2",	  "configfs",
		"debugfs",   "devpts",	    "devtmpfs", "efivarfs", "fusectl",	  "mqueue",
		"nsfs",	     "proc",	    "pstore",	"resctrl",  "rpc_pipefs", "securityfs",
		"selinuxfs", "smackfs",	    "sysfs",	"tracefs",  "nfsd",	  "xenfs",
	};
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i], type))
			return true;
	return false;
}

/* The next line of the text from `*at` on, without its end, and the type of the file system ("" if there is none). */
static bool mount_take_line(const char **at, const char **ret_line, const char **ret_end,
			    char type[64])
{
	const char *separator;

	if (!**at)
		return false;
	*ret_line = *at;
	*ret_end = *at + strcspn(*at, "\n");
	*at = **ret_end ? *ret_end + 1 : *ret_end;
	type[0] = '\0';
	separator = memmem(*ret_line, (size_t)(*ret_end - *ret_line), " - ", 3);
	if (separator)
		sscanf(separator, " - %63s", type);
	return true;
}

bool mount_list_has_remote(const char *text)
{
	const char *line, *end;
	char type[64];

	while (mount_take_line(&text, &line, &end, type))
		if (!mount_is_local(type) && !mount_is_kernel(type))
			return true;
	return false;
}

/* FUSE shows the owner of its server. */
static bool mount_is_of_user(const char *line, const char *end, const char *type)
{
	static const char key[] = "user_id=";
	const char *option = memmem(line, (size_t)(end - line), " - ", 3);

	if (strncmp(type, "fuse", 4) != 0)
		return false;
	while (option && (option = memmem(option, (size_t)(end - option), key, strlen(key)))) {
		option += strlen(key);
		if (strtoull(option, NULL, 10))
			return true;
	}
	return false;
}

enum mount_kind mount_list_kind(const char *text, uint64_t number)
{
	const char *line, *end;
	char type[64];

	while (mount_take_line(&text, &line, &end, type)) {
		if (strtoull(line, NULL, 10) != number)
			continue;
		if (mount_is_local(type))
			return MOUNT_LOCAL;
		return mount_is_of_user(line, end, type) ? MOUNT_REMOTE_OF_USER : MOUNT_REMOTE;
	}
	return MOUNT_UNKNOWN;
}

static bool mount_is_of(const char *line, unsigned int major, unsigned int minor)
{
	unsigned int line_major, line_minor;

	return sscanf(line, "%*u %*u %u:%u", &line_major, &line_minor) == 2 &&
	       line_major == major && line_minor == minor;
}

bool mount_list_has_local(const char *text, unsigned int major, unsigned int minor)
{
	const char *line, *end;
	char type[64];

	while (mount_take_line(&text, &line, &end, type))
		if (mount_is_local(type) && mount_is_of(line, major, minor))
			return true;
	return false;
}

bool mount_list_has_type(const char *text, const char *type, unsigned int major, unsigned int minor)
{
	const char *line, *end;
	char found[64];

	while (mount_take_line(&text, &line, &end, found))
		if (!strcmp(found, type) && mount_is_of(line, major, minor))
			return true;
	return false;
}

int mount_namespace_identify(pid_t pid, dev_t *ret_device, ino_t *ret_inode)
{
	char path[64];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	if (stat(path, &status))
		return -errno;
	*ret_device = status.st_dev;
	*ret_inode = status.st_ino;
	return 0;
}
