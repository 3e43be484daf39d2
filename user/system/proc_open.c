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
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "system/proc_text.h"
#include "system/regular_file.h"

static const struct proc_mapping *open_find(const struct proc_map_list *list, uint64_t address)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (address >= list->items[i].start && address < list->items[i].end)
			return &list->items[i];
	return NULL;
}

bool proc_identify_file(int fd, uint64_t *ret_device, uint64_t *ret_inode)
{
	struct proc_map_list list = { 0 };
	const struct proc_mapping *ours = NULL;
	struct statx status;
	void *memory;
	size_t size;

	/* On hugetlbfs a block is a huge page: less than one could be mapped, but not unmapped. */
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &status) || !status.stx_blksize)
		return false;
	size = status.stx_blksize;
	memory = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
	if (memory == MAP_FAILED)
		return false;
	/* Not by our pid: /proc may be that of another pid namespace. */
	if (!proc_read_maps("/proc", 0, &list))
		ours = open_find(&list, (uintptr_t)memory);
	if (ours) {
		*ret_device = ours->device;
		*ret_inode = ours->inode;
	}
	munmap(memory, size);
	proc_map_list_free(&list);
	return ours != NULL;
}

static bool open_is_mapped_file(int fd, const struct proc_mapping *mapping)
{
	uint64_t device, inode;

	return proc_identify_file(fd, &device, &inode) && device == mapping->device &&
	       inode == mapping->inode;
}

/* From an O_PATH descriptor, which is closed, to one for reading. */
static int open_verified(int path_fd, pid_t pid, const struct proc_mapping *mapping)
{
	int fd = regular_file_reopen(path_fd, pid);

	if (fd >= 0 && !open_is_mapped_file(fd, mapping)) {
		close(fd);
		fd = -ESTALE;
	}
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
	return open_verified(fd, pid, mapping);
}

/* By its name: first as the process sees it, then as the tracer does (a target in a chroot is shown so). */
static int open_named(const char *proc_root, pid_t pid, const struct proc_mapping *mapping,
		      const char *path)
{
	int fd = open_verified(proc_open_in_root(proc_root, pid, path, 0), pid, mapping);
	int other;

	if (fd >= 0)
		return fd;
	other = open_verified(proc_open_in_root(proc_root, 0, path, 0), 0, mapping);
	return other >= 0 ? other : fd;
}

int proc_open_mapping(const char *proc_root, pid_t pid, const struct proc_mapping *mapping)
{
	char *full;
	int fd, named;

	if (!mapping->path || mapping->path[0] != '/' || !mapping->inode)
		return -ENOENT;
	fd = open_map_file(proc_root, pid, mapping);
	/* To look for the name of one that does not answer would be to ask again. */
	if (fd >= 0 || fd == -ETIMEDOUT)
		return fd;
	named = open_named(proc_root, pid, mapping, mapping->path);
	if (named < 0 && mapping->deleted) {
		full = memory_format("%s (deleted)", mapping->path);
		named = open_named(proc_root, pid, mapping, full);
		free(full);
	}
	return named;
}
