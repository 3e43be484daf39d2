/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening files as a process sees them, and the file behind a mapping: see proc.h. A name is only a guess at that file: it
 * may have been replaced, or mean another file to the tracer. So every candidate is taken only if proc_identify_file finds
 * the device and inode of the mapping.
 */
#include "system/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "system/path_walk.h"
#include "system/regular_file.h"

static int proc_open_root(const char *proc_root, pid_t pid)
{
	char *path = pid ? memory_format("%s/%d/root", proc_root, (int)pid)
			 : memory_copy_string("/");
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		fd = -errno;
	free(path);
	return fd;
}

int proc_open_in_root(const char *proc_root, pid_t pid, const char *path, uint64_t resolve)
{
	int root = proc_open_root(proc_root, pid), fd;

	if (root < 0)
		return root;
	fd = path_walk(root, path, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | resolve, pid);
	close(root);
	return fd;
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
	if (file->origin.path_fd > 0)
		close(file->origin.path_fd);
	file->origin.path_fd = 0;
	return -ESTALE;
}

static int open_map_path(const char *proc_root, pid_t pid, const struct proc_mapping *mapping)
{
	char *path = memory_format("%s/%d/map_files/%" PRIx64 "-%" PRIx64, proc_root, (int)pid,
				   mapping->start, mapping->end);
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		fd = -errno;
	free(path);
	return fd;
}

static int open_map_file(const char *proc_root, pid_t pid, struct mapped_file *file)
{
	int fd = open_map_path(proc_root, pid, file->mapping);

	/* Without permission the kernel answers EACCES or EPERM, of mappings that exist. */
	file->unmapped = fd == -ENOENT || fd == -ESRCH;
	fd = open_verified(fd, pid, file);
	/* Another file is mapped there. Records may have other devices than /proc where file systems are stacked. */
	if (fd == -ESTALE && file->origin.inode && file->origin.device == file->mapping->device)
		file->unmapped = true;
	return fd;
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
	file->unmapped = false;
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

int proc_open_mapping_path(const char *proc_root, pid_t pid, const struct proc_mapping *mapping)
{
	int fd = open_map_path(proc_root, pid, mapping);
	struct statx status;

	if (fd >= 0 || !mapping->path || mapping->path[0] != '/')
		return fd;
	fd = proc_open_in_root(proc_root, pid, mapping->path, 0);
	if (fd < 0)
		return fd;
	if (!statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &status) &&
	    status.stx_ino == mapping->inode)
		return fd;
	close(fd);
	return -ESTALE;
}
