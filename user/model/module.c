/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of modules of a run: see module.h. */
#include "model/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

uint32_t module_list_add(struct module_list *list, struct module *module)
{
	list->items = memory_grow(list->items, list->count, &list->capacity, sizeof(*list->items));
	list->items[list->count] = module;
	return (uint32_t)list->count++;
}

struct module *module_list_get(const struct module_list *list, uint32_t index)
{
	return index < list->count ? list->items[index] : NULL;
}

uint32_t module_list_find(const struct module_list *list, uint64_t device, uint64_t inode,
			  const char *path)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		const struct module *module = list->items[i];

		if (module->inode == inode && module->device == device && module->path &&
		    !strcmp(module->path, path))
			return (uint32_t)i;
	}
	return MODULE_NONE;
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
