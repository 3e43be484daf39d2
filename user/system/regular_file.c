/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See regular_file.h. O_PATH looks without opening; only then the very file that was looked at is opened. */
#include "system/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>
#include <linux/openat2.h>

#include "system/remote_file.h"

/* Not in the headers of all distributions that this builds on. */
#define MAGIC_CONFIGFS 0x62656570
#define MAGIC_FUSECTL 0x65735543
#define MAGIC_MQUEUE 0x19800202
#define MAGIC_RESCTRL 0x7655821

/* Files of the kernel are regular files to stat(), but to open or read one may act, or take what another reads. */
static bool regular_file_is_kernel(int path_fd)
{
	static const unsigned long kernel[] = {
		PROC_SUPER_MAGIC, SYSFS_MAGIC,	  DEBUGFS_MAGIC,     TRACEFS_MAGIC,
		SECURITYFS_MAGIC, SELINUX_MAGIC,  SMACK_MAGIC,	     CGROUP_SUPER_MAGIC,
		BPF_FS_MAGIC,	  PSTOREFS_MAGIC, EFIVARFS_MAGIC,    CGROUP2_SUPER_MAGIC,
		NSFS_MAGIC,	  BINFMTFS_MAGIC, MAGIC_CONFIGFS,    MAGIC_FUSECTL,
		MAGIC_MQUEUE,	  MAGIC_RESCTRL,  XENFS_SUPER_MAGIC,
	};
	struct statfs status;
	size_t i;

	if (fstatfs(path_fd, &status))
		return true;
	for (i = 0; i < sizeof(kernel) / sizeof(kernel[0]); i++)
		if ((unsigned long)status.f_type == kernel[i])
			return true;
	return false;
}

static int regular_file_open_link(int path_fd)
{
	struct stat status;
	char link[64];
	int fd;

	if (fstat(path_fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode) || regular_file_is_kernel(path_fd))
		return -EACCES;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
	fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

int regular_file_reopen(int path_fd, pid_t pid)
{
	int fd;

	if (path_fd < 0)
		return path_fd;
	if (remote_file_is(path_fd, pid))
		fd = remote_file_open(path_fd, regular_file_open_link);
	else
		fd = regular_file_open_link(path_fd);
	close(path_fd);
	return fd;
}

int regular_file_open(const char *path, enum regular_file_links links)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS };
	int fd;

	if (links == REGULAR_FILE_NO_LINKS)
		how.resolve |= RESOLVE_NO_SYMLINKS;
	fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
	return regular_file_reopen(fd < 0 ? -errno : fd, 0);
}
