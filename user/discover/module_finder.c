/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See module_finder.h. */
#include "discover/module_finder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/openat2.h>

#include "base/memory.h"
#include "system/path_walk.h"
#include "system/regular_file.h"

/* A file that has just been opened, or could not be. */
struct opened {
	int fd; /* or a negative errno */
	bool unmapped; /* as in struct mapped_file */
	struct file_origin origin;
};

static struct module_stamp module_stamp_of(const struct opened *opened)
{
	const struct stat *status = &opened->origin.status;
	struct module_stamp stamp = { 0 };

	if (opened->fd >= 0) {
		stamp.size = (uint64_t)status->st_size;
		stamp.modified_ns = status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec;
		stamp.changed_ns = status->st_ctim.tv_sec * 1000000000 + status->st_ctim.tv_nsec;
	}
	return stamp;
}

/* Is it for want of descriptors that a file was not opened? Looking for it takes three at a time. */
static bool module_lacks_fd(void)
{
	int fds[3], count = 0;
	bool lacks_fd = false;

	while (count < 3 && !lacks_fd) {
		fds[count] = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
		lacks_fd = fds[count] < 0 && (errno == EMFILE || errno == ENFILE);
		count++;
	}
	while (count--)
		if (fds[count] >= 0)
			close(fds[count]);
	return lacks_fd;
}

/* What an open module has of its file. */
static void module_set_file(struct module *module, const struct opened *opened)
{
	module->of_user = opened->origin.of_user;
	module->file_device = opened->origin.status.st_dev;
	module->file_inode = opened->origin.status.st_ino;
	module->stamp = module_stamp_of(opened);
}

static uint32_t module_add(struct module_list *modules, pid_t pid,
			   const struct proc_mapping *mapping, const struct opened *opened)
{
	struct module *module = memory_alloc(1, sizeof(*module));

	module->path = memory_copy_string(mapping->path);
	module->fd = opened->fd < 0 ? -1 : opened->fd;
	module->path_fd = opened->origin.path_fd;
	module->unanswered = opened->fd == -ETIMEDOUT;
	module->uncopied = opened->fd == -EFBIG;
	module->unmapped = opened->fd < 0 && opened->unmapped;
	module->shared = mapping->shared;
	module->device = mapping->device;
	module->inode = mapping->inode;
	module->root_pid = pid;
	if (opened->fd >= 0)
		module_set_file(module, opened);
	module->no_fd = mapping->inode && opened->fd < 0 &&
			(!module_list_may_open(modules, pid) || module_lacks_fd());
	return module_list_add(modules, module);
}

/* A file that has just been opened: that of a closed module, which is opened by it, or a new one. */
static uint32_t module_add_opened(struct module_list *modules, pid_t pid,
				  const struct proc_mapping *mapping, const struct opened *opened)
{
	struct module_stamp stamp = module_stamp_of(opened);
	uint32_t module = MODULE_NONE;

	if (opened->fd >= 0)
		module = module_list_find_closed(modules, mapping->device, mapping->inode,
						 mapping->path, &stamp);
	if (module == MODULE_NONE)
		return module_add(modules, pid, mapping, opened);
	module_list_get(modules, module)->root_pid = pid;
	module_list_open(modules, module, opened->fd, opened->origin.path_fd);
	return module;
}

/* One copy may have half of the room that all others leave. */
static struct opened module_open_mapping(const struct module_list *modules, pid_t pid,
					 const struct proc_mapping *mapping)
{
	uint64_t most = regular_file_copies_max();
	struct mapped_file file = { .mapping = mapping };
	struct opened opened;

	file.copy_max = modules->copied < most ? (most - modules->copied) / 2 : 0;
	opened.fd = proc_open_mapping("/proc", pid, &file);
	opened.unmapped = file.unmapped;
	opened.origin = file.origin;
	return opened;
}

static bool module_lacks_file(const struct module *module)
{
	return module->no_fd || module->unmapped;
}

/* There may be descriptors again, or it is mapped again, or by another process. */
static void module_retry(struct module_list *modules, uint32_t index, pid_t pid,
			 const struct proc_mapping *mapping)
{
	struct module *module = module_list_get(modules, index);
	struct opened opened;

	if (!module_list_may_open(modules, pid)) {
		module_list_lack_fd(modules, index);
		return;
	}
	opened = module_open_mapping(modules, pid, mapping);
	module->unmapped &= opened.unmapped;
	if (opened.fd < 0 && module_lacks_fd())
		module_list_lack_fd(modules, index);
	if (opened.fd < 0)
		return;
	module->root_pid = pid;
	module_set_file(module, &opened);
	module_list_open(modules, index, opened.fd, opened.origin.path_fd);
}

uint32_t module_find_mapping(struct module_list *modules, pid_t pid,
			     const struct proc_mapping *mapping)
{
	struct opened opened = { .fd = -1 };
	struct module *found;
	uint32_t module;

	module = module_list_find(modules, mapping->device, mapping->inode, mapping->path);
	if (module == MODULE_NONE) {
		if (mapping->inode && module_list_may_open(modules, pid))
			opened = module_open_mapping(modules, pid, mapping);
		return module_add_opened(modules, pid, mapping, &opened);
	}
	found = module_list_get(modules, module);
	found->shared &= mapping->shared;
	if (module_lacks_file(found))
		module_retry(modules, module, pid, mapping);
	found->expected = false;
	return module;
}

/* The module of a file that is open, which is taken over, or closed. */
static uint32_t module_find_opened(struct module_list *modules, pid_t pid, char *path,
				   const struct opened *opened)
{
	const struct proc_mapping mapping = { .path = path,
					      .device = opened->origin.device,
					      .inode = opened->origin.inode };
	uint32_t module = module_list_find(modules, mapping.device, mapping.inode, path);

	if (module == MODULE_NONE)
		return module_add_opened(modules, pid, &mapping, opened);
	close(opened->fd);
	if (opened->origin.path_fd > 0)
		close(opened->origin.path_fd);
	return module;
}

uint32_t module_find_path(struct module_list *modules, pid_t pid, const char *path)
{
	int path_fd = path_walk(AT_FDCWD, path, RESOLVE_NO_MAGICLINKS, 0);
	char *real = path_fd >= 0 ? path_walk_name(path_fd) : NULL;
	uint32_t module = MODULE_NONE;
	struct opened opened;

	opened.fd =
		regular_file_reopen_as(path_fd, 0, regular_file_copies_max() / 2, &opened.origin);
	if (opened.fd >= 0 && real && opened.origin.inode) {
		module = module_find_opened(modules, pid, real, &opened);
		module_list_get(modules, module)->expected = true;
	} else if (opened.fd >= 0) {
		close(opened.fd);
		if (opened.origin.path_fd > 0)
			close(opened.origin.path_fd);
	}
	free(real);
	return module;
}

uint32_t module_find_open(struct module_list *modules, pid_t pid, int fd)
{
	char *path = path_walk_name(fd);
	struct opened opened = { .fd = fcntl(fd, F_DUPFD_CLOEXEC, 0) };
	uint32_t module = MODULE_NONE;

	if (path && opened.fd >= 0 && !fstat(fd, &opened.origin.status) &&
	    proc_identify_file(fd, &opened.origin.device, &opened.origin.inode))
		module = module_find_opened(modules, pid, path, &opened);
	else if (opened.fd >= 0)
		close(opened.fd);
	free(path);
	return module;
}
