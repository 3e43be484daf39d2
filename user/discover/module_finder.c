/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See module_finder.h. */
#include "discover/module_finder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "system/regular_file.h"

static struct module_stamp module_stamp_of(int fd)
{
	struct module_stamp stamp = { 0 };
	struct stat status;

	if (fd >= 0 && !fstat(fd, &status)) {
		stamp.size = (uint64_t)status.st_size;
		stamp.modified_ns = status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
		stamp.changed_ns = status.st_ctim.tv_sec * 1000000000 + status.st_ctim.tv_nsec;
	}
	return stamp;
}

/* Is it for want of descriptors that a file was not opened? Looking for it takes three at a time. */
static bool module_is_starved(void)
{
	int fds[3], count = 0;
	bool starved = false;

	while (count < 3 && !starved) {
		fds[count] = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
		starved = fds[count] < 0 && (errno == EMFILE || errno == ENFILE);
		count++;
	}
	while (count--)
		if (fds[count] >= 0)
			close(fds[count]);
	return starved;
}

static uint32_t module_add(struct module_list *modules, pid_t pid, const char *path,
			   uint64_t device, uint64_t inode, int fd)
{
	struct module *module = memory_alloc(1, sizeof(*module));

	module->path = memory_copy_string(path);
	module->fd = fd < 0 ? -1 : fd;
	module->unanswered = fd == -ETIMEDOUT;
	module->device = device;
	module->inode = inode;
	module->root_pid = pid;
	module->stamp = module_stamp_of(fd);
	module->starved = inode && fd < 0 &&
			  (!module_list_may_open(modules, pid) || module_is_starved());
	return module_list_add(modules, module);
}

/* A file that has just been opened: that of a closed module, which is opened by it, or a new one. */
static uint32_t module_add_opened(struct module_list *modules, pid_t pid, const char *path,
				  uint64_t device, uint64_t inode, int fd)
{
	struct module_stamp stamp = module_stamp_of(fd);
	uint32_t module = MODULE_NONE;

	if (fd >= 0)
		module = module_list_find_closed(modules, device, inode, path, &stamp);
	if (module == MODULE_NONE)
		return module_add(modules, pid, path, device, inode, fd);
	module_list_get(modules, module)->root_pid = pid;
	module_list_open(modules, module, fd);
	return module;
}

/* There may be descriptors again. */
static void module_retry(struct module_list *modules, uint32_t index, pid_t pid,
			 const struct proc_mapping *mapping)
{
	struct module *module = module_list_get(modules, index);
	int fd = -EMFILE;

	if (module_list_may_open(modules, pid))
		fd = proc_open_mapping("/proc", pid, mapping);
	if (fd < 0)
		return;
	module->root_pid = pid;
	module_list_open(modules, index, fd);
	module->stamp = module_stamp_of(fd);
}

uint32_t module_find_mapping(struct module_list *modules, pid_t pid,
			     const struct proc_mapping *mapping)
{
	uint32_t module;
	int fd = -1;

	module = module_list_find(modules, mapping->device, mapping->inode, mapping->path);
	if (module == MODULE_NONE) {
		if (mapping->inode && module_list_may_open(modules, pid))
			fd = proc_open_mapping("/proc", pid, mapping);
		return module_add_opened(modules, pid, mapping->path, mapping->device,
					 mapping->inode, fd);
	}
	if (module_list_get(modules, module)->starved)
		module_retry(modules, module, pid, mapping);
	module_list_get(modules, module)->awaited = false;
	return module;
}

uint32_t module_find_path(struct module_list *modules, pid_t pid, const char *path)
{
	char *real = realpath(path, NULL);
	uint32_t module = MODULE_NONE;
	uint64_t device, inode;
	int fd = -1;

	if (real)
		fd = regular_file_open(real, REGULAR_FILE_LINKS);
	if (fd < 0 || !proc_identify_file(fd, &device, &inode))
		goto out;
	module = module_list_find(modules, device, inode, real);
	if (module == MODULE_NONE) {
		module = module_add_opened(modules, pid, real, device, inode, fd);
		fd = -1;
	}
	module_list_get(modules, module)->awaited = true;
out:
	if (fd >= 0)
		close(fd);
	free(real);
	return module;
}

/* The path by which the kernel knows an open file; in another mount namespace, as it is seen there. */
static char *module_path_of(int fd)
{
	char *link = memory_format("/proc/self/fd/%d", fd), path[PATH_MAX];
	ssize_t length = readlink(link, path, sizeof(path) - 1);

	free(link);
	if (length <= 0)
		return NULL;
	path[length] = '\0';
	return memory_copy_string(path);
}

uint32_t module_find_open(struct module_list *modules, pid_t pid, int fd)
{
	char *path = module_path_of(fd);
	uint32_t module = MODULE_NONE;
	uint64_t device, inode;
	int copy;

	if (path && proc_identify_file(fd, &device, &inode)) {
		module = module_list_find(modules, device, inode, path);
		copy = module == MODULE_NONE ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
		if (copy >= 0)
			module = module_add_opened(modules, pid, path, device, inode, copy);
	}
	free(path);
	return module;
}
