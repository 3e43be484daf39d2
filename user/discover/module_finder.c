/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See module_finder.h. */
#include "discover/module_finder.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "system/elf_file.h"

static void module_read_build_id(struct module *module)
{
	struct elf_file *file;

	if (module->fd < 0)
		return;
	file = elf_file_open(module->fd, NULL);
	if (!file)
		return;
	module->build_id_size = elf_file_build_id(file, module->build_id, BUILD_ID_MAX);
	elf_file_close(file);
}

static uint32_t module_add(struct module_list *modules, pid_t pid, const char *path,
			   uint64_t device, uint64_t inode, int fd)
{
	struct module *module = memory_alloc(1, sizeof(*module));

	module->path = memory_copy_string(path);
	module->fd = fd;
	module->device = device;
	module->inode = inode;
	module->root_pid = pid;
	module_read_build_id(module);
	return module_list_add(modules, module);
}

uint32_t module_find_mapping(struct module_list *modules, pid_t pid,
			     const struct proc_mapping *mapping)
{
	uint32_t module;
	int fd = -1;

	module = module_list_find(modules, mapping->device, mapping->inode, mapping->path);
	if (module != MODULE_NONE)
		return module;
	if (mapping->inode)
		fd = proc_open_mapping("/proc", pid, mapping);
	return module_add(modules, pid, mapping->path, mapping->device, mapping->inode,
			  fd < 0 ? -1 : fd);
}

uint32_t module_find_path(struct module_list *modules, pid_t pid, const char *path)
{
	char *real = realpath(path, NULL);
	uint32_t module = MODULE_NONE;
	struct stat status;
	int fd = -1;

	if (real)
		fd = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &status) || !S_ISREG(status.st_mode))
		goto out;
	module = module_list_find(modules, status.st_dev, status.st_ino, real);
	if (module == MODULE_NONE) {
		module = module_add(modules, pid, real, status.st_dev, status.st_ino, fd);
		fd = -1;
	}
out:
	if (fd >= 0)
		close(fd);
	free(real);
	return module;
}
