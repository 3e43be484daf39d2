/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See regular_file.h. O_PATH looks without opening; only then the very file that was looked at is opened. */
#include "system/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int regular_file_open_link(int path_fd)
{
	struct stat status;
	char link[64];
	int fd;

	if (fstat(path_fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EACCES;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
	fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

int regular_file_reopen(int path_fd)
{
	int fd;

	if (path_fd < 0)
		return path_fd;
	fd = regular_file_open_link(path_fd);
	close(path_fd);
	return fd;
}

int regular_file_open(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC);

	return regular_file_reopen(fd < 0 ? -errno : fd);
}
