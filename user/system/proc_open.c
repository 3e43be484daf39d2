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
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "system/proc_text.h"

static const struct proc_mapping *open_find(const struct proc_map_list *list, uint64_t address)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (address >= list->items[i].start && address < list->items[i].end)
			return &list->items[i];
	return NULL;
}

static bool open_is_mapped_file(int fd, const struct proc_mapping *mapping)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	struct proc_map_list list = { 0 };
	const struct proc_mapping *ours;
	bool same = false;
	void *memory;

	memory = mmap(NULL, size, PROT_NONE, MAP_PRIVATE, fd, 0);
	if (memory == MAP_FAILED)
		return false;
	/* Not by our pid: /proc may be that of another pid namespace. */
	if (!proc_read_maps("/proc", 0, &list)) {
		ours = open_find(&list, (uintptr_t)memory);
		same = ours && ours->device == mapping->device && ours->inode == mapping->inode;
	}
	munmap(memory, size);
	proc_map_list_free(&list);
	return same;
}

/*
 * From an O_PATH descriptor, which is closed, to one for reading. Only regular files: opening a device or a
 * FIFO may do something or wait. A lease on the file must not hold us up either, hence O_NONBLOCK.
 */
static int open_verified(int path_fd, const struct proc_mapping *mapping)
{
	char link[64];
	struct stat status;
	int fd = -ENOENT;

	if (path_fd < 0)
		return path_fd;
	if (fstat(path_fd, &status) || !S_ISREG(status.st_mode))
		goto out;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
	fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		fd = -errno;
	} else if (!open_is_mapped_file(fd, mapping)) {
		close(fd);
		fd = -ESTALE;
	}
out:
	close(path_fd);
	return fd;
}

static int open_map_file(const char *proc_root, pid_t pid, const struct proc_mapping *mapping)
{
	char *path = memory_format("%s/%d/map_files/%" PRIx64 "-%" PRIx64, proc_root, (int)pid,
				   mapping->start, mapping->end);
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		fd = -errno;
	free(path);
	return open_verified(fd, mapping);
}

/* By its name: first as the process sees it, then as the tracer does (a target in a chroot is shown so). */
static int open_named(const char *proc_root, pid_t pid, const struct proc_mapping *mapping,
		      const char *path)
{
	int fd = open_verified(proc_open_in_root(proc_root, pid, path), mapping);
	int other;

	if (fd >= 0)
		return fd;
	other = open_verified(proc_open_in_root(proc_root, 0, path), mapping);
	return other >= 0 ? other : fd;
}

int proc_open_mapping(const char *proc_root, pid_t pid, const struct proc_mapping *mapping)
{
	char *full;
	int fd, named;

	if (!mapping->path || mapping->path[0] != '/' || !mapping->inode)
		return -ENOENT;
	fd = open_map_file(proc_root, pid, mapping);
	if (fd >= 0)
		return fd;
	named = open_named(proc_root, pid, mapping, mapping->path);
	if (named < 0 && mapping->deleted) {
		full = memory_format("%s (deleted)", mapping->path);
		named = open_named(proc_root, pid, mapping, full);
		free(full);
	}
	return named;
}
