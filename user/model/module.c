/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of modules of a run: see module.h. */
#include "model/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

/* How much of what is left a process may have besides. */
#define SHARE 3

static size_t module_list_share(const struct module_list *list, int pid)
{
	return (size_t)(uintptr_t)table_get(&list->shares, (uint64_t)pid);
}

/* A descriptor more or less, of a module that has one; a copy has two, and its size. */
static void module_list_count(struct module_list *list, const struct module *module, int step)
{
	uint64_t pid = (uint64_t)module->root_pid;
	size_t share;

	if (module->fd < 0)
		return;
	if (module->path_fd > 0) {
		list->copied += step > 0 ? module->stamp.size : -module->stamp.size;
		step *= 2;
	}
	share = module_list_share(list, module->root_pid) + (size_t)step;
	list->open += (size_t)step;
	if (share)
		table_put(&list->shares, pid, (void *)(uintptr_t)share);
	else
		table_remove(&list->shares, pid);
}

bool module_list_may_open(const struct module_list *list, int pid)
{
	if (!list->limit)
		return true;
	return list->open < list->limit &&
	       (!list->is_shared ||
		module_list_share(list, pid) <= SHARE * (list->limit - list->open));
}

/* The index of an unused item, or of a new one. */
static uint32_t module_list_place(struct module_list *list)
{
	size_t i = 0;

	if (!list->unused) {
		list->items = memory_grow(list->items, list->count, &list->capacity,
					  sizeof(*list->items));
		return (uint32_t)list->count++;
	}
	while (list->items[i])
		i++;
	list->unused--;
	return (uint32_t)i;
}

uint32_t module_list_add(struct module_list *list, struct module *module)
{
	uint32_t index = module_list_place(list);

	module->number = list->added++;
	list->items[index] = module;
	module_list_count(list, module, 1);
	list->no_fd += module->no_fd;
	list->no_fd_ever += module->no_fd;
	list->unopened_ever += module->unanswered || module->uncopied;
	list->opens++;
	return index;
}

struct module *module_list_get(const struct module_list *list, uint32_t index)
{
	return index < list->count ? list->items[index] : NULL;
}

static bool module_is(const struct module *module, uint64_t device, uint64_t inode,
		      const char *path)
{
	return module && module->inode == inode && module->device == device && module->path &&
	       !strcmp(module->path, path);
}

uint32_t module_list_find(const struct module_list *list, uint64_t device, uint64_t inode,
			  const char *path)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (module_is(list->items[i], device, inode, path) && !list->items[i]->closed)
			return (uint32_t)i;
	return MODULE_NONE;
}

static bool module_stamp_is(const struct module_stamp *a, const struct module_stamp *b)
{
	return a->size == b->size && a->modified_ns == b->modified_ns &&
	       a->changed_ns == b->changed_ns;
}

uint32_t module_list_find_closed(const struct module_list *list, uint64_t device, uint64_t inode,
				 const char *path, const struct module_stamp *stamp)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (module_is(list->items[i], device, inode, path) && list->items[i]->closed &&
		    module_stamp_is(&list->items[i]->stamp, stamp))
			return (uint32_t)i;
	return MODULE_NONE;
}

static void module_close(struct module *module)
{
	if (module->fd >= 0)
		close(module->fd);
	if (module->path_fd > 0)
		close(module->path_fd);
	module->fd = -1;
	module->path_fd = 0;
}

int module_probe_fd(const struct module *module)
{
	return module->path_fd > 0 ? module->path_fd : module->fd;
}

void module_list_open(struct module_list *list, uint32_t index, int fd, int path_fd)
{
	struct module *module = list->items[index];

	module_list_count(list, module, -1);
	list->no_fd -= module->no_fd;
	module_close(module);
	module->fd = fd;
	module->path_fd = path_fd;
	module_list_count(list, module, 1);
	module->closed = module->no_fd = module->unmapped = false;
	list->opens++;
}

void module_list_lack_fd(struct module_list *list, uint32_t index)
{
	struct module *module = list->items[index];

	if (module->no_fd)
		return;
	module->no_fd = true;
	list->no_fd++;
	list->no_fd_ever++;
}

void module_list_close(struct module_list *list, uint32_t index)
{
	struct module *module = list->items[index];

	module_list_count(list, module, -1);
	list->no_fd -= module->no_fd;
	module_close(module);
	module->closed = true;
	module->no_fd = false;
}

const char *module_format_build_id(const struct module *module, char text[2 * BUILD_ID_MAX + 1])
{
	size_t size = module->build_id_size < BUILD_ID_MAX ? module->build_id_size : BUILD_ID_MAX;
	size_t i;

	text[0] = '\0';
	for (i = 0; i < size; i++)
		snprintf(text + 2 * i, 3, "%02x", module->build_id[i]);
	return text;
}

struct module_list *module_list_copy(const struct module_list *list)
{
	struct module_list *copy = memory_alloc(1, sizeof(*copy));
	size_t i;

	copy->items = memory_alloc(list->count, sizeof(*copy->items));
	copy->count = copy->capacity = list->count;
	for (i = 0; i < list->count; i++) {
		if (!list->items[i])
			continue;
		copy->items[i] = memory_alloc(1, sizeof(*copy->items[i]));
		*copy->items[i] = *list->items[i];
		copy->items[i]->path = memory_copy_string(list->items[i]->path);
		copy->items[i]->fd = -1;
		copy->items[i]->path_fd = 0;
	}
	return copy;
}

static void module_free(struct module *module)
{
	if (!module)
		return;
	module_close(module);
	free(module->path);
	free(module);
}

void module_list_remove(struct module_list *list, uint32_t index)
{
	module_list_close(list, index);
	module_free(list->items[index]);
	list->items[index] = NULL;
	list->unused++;
}

void module_list_free(struct module_list *list)
{
	size_t i;

	if (!list)
		return;
	for (i = 0; i < list->count; i++)
		module_free(list->items[i]);
	free(list->items);
	table_free(&list->shares);
	*list = (struct module_list){ 0 };
}
