/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See stdio.h. */
#include "system/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int stdio_occupy(void)
{
	int fd;

	/* O_PATH is neither for reading nor for writing. The lowest free number is the one that is missing. */
	for (fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/", O_PATH | O_DIRECTORY | O_CLOEXEC) < 0)
			return -errno;
	return 0;
}

bool stdio_is_writable(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && !(flags & O_PATH) && (flags & O_ACCMODE) != O_RDONLY;
}
