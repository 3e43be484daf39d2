/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Real files as the input of tests. */
#ifndef TESTS_UNIT_MAP_FILE_H
#define TESTS_UNIT_MAP_FILE_H

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A whole file in memory, read-only; NULL if there is none. */
static inline const void *map_file(const char *path, size_t *ret_size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *bytes;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &status) || !S_ISREG(status.st_mode) || !status.st_size) {
		close(fd);
		return NULL;
	}
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	*ret_size = (size_t)status.st_size;
	return bytes == MAP_FAILED ? NULL : bytes;
}

#endif
