/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The device and inode by which /proc/PID/maps has a file: see proc.h. stat would not do: on overlayfs and btrfs it gives
 * other numbers. So the file is mapped here, and the kernel describes our mapping.
 */
#include "system/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* The kernel's record of our own mapping at an address. Without memory of the heap: see remote_file.h. */
struct own_maps {
	int fd;
	size_t length;
	char text[8192]; /* more than a line */
};

/* Move on to the next line. False at the end. */
static bool own_maps_read_line(struct own_maps *maps, char **ret_line)
{
	static char line[sizeof(maps->text) + 1];
	const char *newline = memchr(maps->text, '\n', maps->length);
	ssize_t got;
	size_t size;

	while (!newline && maps->length < sizeof(maps->text)) {
		got = TEMP_FAILURE_RETRY(read(maps->fd, maps->text + maps->length,
					      sizeof(maps->text) - maps->length));
		if (got <= 0)
			return false;
		maps->length += (size_t)got;
		newline = memchr(maps->text, '\n', maps->length);
	}
	size = newline ? (size_t)(newline - maps->text) + 1 : maps->length;
	memcpy(line, maps->text, size);
	line[size] = '\0';
	maps->length -= size;
	memmove(maps->text, maps->text + size, maps->length);
	*ret_line = line;
	return true;
}

static bool identify_own_mapping(uint64_t address, uint64_t *ret_device, uint64_t *ret_inode)
{
	/* Not by our pid: /proc may be that of another pid namespace. */
	struct own_maps maps = { .fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC) };
	unsigned long start, end, inode;
	unsigned int major, minor;
	bool found = false;
	char *line;

	while (maps.fd >= 0 && !found && own_maps_read_line(&maps, &line))
		found = sscanf(line, "%lx-%lx %*s %*s %x:%x %lu", &start, &end, &major, &minor,
			       &inode) == 5 &&
			address >= start && address < end;
	if (maps.fd >= 0)
		close(maps.fd);
	if (!found)
		return false;
	*ret_device = makedev(major, minor);
	*ret_inode = inode;
	return true;
}

bool proc_identify_file(int fd, uint64_t *ret_device, uint64_t *ret_inode)
{
	struct statx status;
	void *memory;
	size_t size;
	bool found;

	/* On hugetlbfs a block is a huge page: less than one could be mapped, but not unmapped. */
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &status) || !status.stx_blksize)
		return false;
	size = status.stx_blksize;
	memory = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
	if (memory == MAP_FAILED)
		return false;
	found = identify_own_mapping((uintptr_t)memory, ret_device, ret_inode);
	munmap(memory, size);
	return found;
}
