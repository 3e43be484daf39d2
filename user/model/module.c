/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of modules of a run: see module.h. */
#include "model/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

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
	list->open += module->fd >= 0;
	list->starved += module->starved;
	list->met++;
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

void module_list_open(struct module_list *list, uint32_t index, int fd)
{
	struct module *module = list->items[index];

	list->open += module->fd < 0;
	list->starved -= module->starved;
	if (module->fd >= 0)
		close(module->fd);
	module->fd = fd;
	module->closed = module->starved = false;
	list->met++;
}

void module_list_close(struct module_list *list, uint32_t index)
{
	struct module *module = list->items[index];

	list->open -= module->fd >= 0;
	list->starved -= module->starved;
	if (module->fd >= 0)
		close(module->fd);
	module->fd = -1;
	module->closed = true;
	module->starved = false;
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

static void module_free(struct module *module)
{
	if (!module)
		return;
	if (module->fd >= 0)
		close(module->fd);
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
	*list = (struct module_list){ 0 };
}
