/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening the file behind a mapping: see proc.h. A name is only a guess at the file: it may have been replaced,
 * or mean another file to the tracer. So every candidate is mapped here, and taken only if the kernel
 * describes our mapping by the same device and inode. stat would not do: on overlayfs and btrfs it
 * gives other numbers than /proc/PID/maps.
 */
#include "system/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/memory.h"
#include "system/proc_text.h"
#include "system/regular_file.h"

/* What the kernel says of our own mapping at an address. Without memory of the heap: see remote_file.h. */
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

static bool open_find_own(uint64_t address, uint64_t *ret_device, uint64_t *ret_inode)
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
	found = open_find_own((uintptr_t)memory, ret_device, ret_inode);
	munmap(memory, size);
	return found;
}

/* From an O_PATH descriptor, which is closed, to one for reading. */
static int open_verified(int path_fd, pid_t pid, struct mapped_file *file)
{
	const struct proc_mapping *mapping = file->mapping;
	int fd = regular_file_reopen_as(path_fd, pid, file->copy_max, &file->origin);

	if (fd < 0 ||
	    (file->origin.device == mapping->device && file->origin.inode == mapping->inode))
		return fd;
	close(fd);
	if (file->origin.place > 0)
		close(file->origin.place);
	file->origin.place = 0;
	return -ESTALE;
}

static int open_map_file(const char *proc_root, pid_t pid, struct mapped_file *file)
{
	char *path = memory_format("%s/%d/map_files/%" PRIx64 "-%" PRIx64, proc_root, (int)pid,
				   file->mapping->start, file->mapping->end);
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		fd = -errno;
	free(path);
	return open_verified(fd, pid, file);
}

/* By its name: first as the process sees it, then as the tracer does (a target in a chroot is shown so). */
static int open_named(const char *proc_root, pid_t pid, struct mapped_file *file, const char *path)
{
	int fd = open_verified(proc_open_in_root(proc_root, pid, path, 0), pid, file);
	int other;

	if (fd >= 0)
		return fd;
	other = open_verified(proc_open_in_root(proc_root, 0, path, 0), 0, file);
	return other >= 0 ? other : fd;
}

int proc_open_mapping(const char *proc_root, pid_t pid, struct mapped_file *file)
{
	const struct proc_mapping *mapping = file->mapping;
	char *full;
	int fd, named;

	file->origin = (struct file_origin){ 0 };
	if (!mapping->path || mapping->path[0] != '/' || !mapping->inode)
		return -ENOENT;
	fd = open_map_file(proc_root, pid, file);
	/* To look for the name of one that does not answer would be to ask again. */
	if (fd >= 0 || fd == -ETIMEDOUT || fd == -EFBIG)
		return fd;
	named = open_named(proc_root, pid, file, mapping->path);
	if (named < 0 && mapping->deleted) {
		full = memory_format("%s (deleted)", mapping->path);
		named = open_named(proc_root, pid, file, full);
		free(full);
	}
	return named;
}
