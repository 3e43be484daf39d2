/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See interp_search.h. */
#include "frames/interp_search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "system/proc.h"

/* Where in a process an interpreter may be. */
struct interp_search {
	const struct module_list *modules;
	const struct interp_files *files;
	uint32_t module;
	const struct interp_file *file;
	int code; /* of reading it */
	uint64_t start; /* of the mapping of its first byte */
	uint64_t inode;
	struct memory_range *ranges;
	size_t range_count;
};

static void search_see_file(struct interp_search *search, const struct proc_mapping *mapping)
{
	const struct interp_file *file;
	uint32_t index;
	int code;

	if (search->module != MODULE_NONE || mapping->file_offset)
		return;
	index = module_list_find(search->modules, mapping->device, mapping->inode, mapping->path);
	if (index == MODULE_NONE)
		return;
	code = search->files->read(search->files->context, index, &file);
	if (code == -ENOENT)
		return;
	search->module = index;
	search->file = file;
	search->code = code;
	search->start = mapping->start;
	search->inode = mapping->inode;
}

static void search_see_mapping(struct interp_search *search, const struct proc_mapping *mapping)
{
	if (mapping->inode)
		search_see_file(search, mapping);
	else if (mapping->readable && mapping->writable && strcmp(mapping->path, "[stack]") != 0)
		search->ranges[search->range_count++] =
			(struct memory_range){ mapping->start, mapping->end };
}

/* Where in the file the code at an address is. */
static bool search_find_point(const struct proc_map_list *maps, uint64_t inode, uint64_t address,
			      uint64_t *ret_offset)
{
	size_t i;

	for (i = 0; i < maps->count; i++) {
		const struct proc_mapping *mapping = &maps->items[i];

		if (address < mapping->start || address >= mapping->end)
			continue;
		*ret_offset = address - mapping->start + mapping->file_offset;
		return mapping->executable && mapping->inode == inode;
	}
	return false;
}

/* Returns as interp_search_process. */
static int search_find(const struct interp_search *search, struct interp_reader *reader,
		       struct interpreter *ret_interpreter)
{
	struct target_memory memory = interp_reader_memory(reader);

	if (search->module == MODULE_NONE)
		return -ENOENT;
	if (search->code)
		return search->code;
	return interpreter_find(search->file, search->start, &memory, search->ranges,
				search->range_count, ret_interpreter);
}

int interp_search_process(const struct module_list *modules, const struct interp_files *files,
			  struct interp_reader *reader, struct call_patience *timing,
			  struct interp_found *ret_found)
{
	struct interp_search search = { .modules = modules, .files = files, .module = MODULE_NONE };
	struct proc_map_list maps;
	size_t i;
	int code;

	ret_found->module = MODULE_NONE;
	code = proc_read_maps_within(reader->pid, false, timing, &maps);
	if (code)
		return code;
	search.ranges = memory_alloc(maps.count, sizeof(*search.ranges));
	for (i = 0; i < maps.count; i++)
		search_see_mapping(&search, &maps.items[i]);
	ret_found->module = search.module;
	code = search_find(&search, reader, &ret_found->interpreter);
	if (!code)
		ret_found->has_point = search_find_point(
			&maps, search.inode, ret_found->interpreter.code_end, &ret_found->point);
	proc_map_list_free(&maps);
	free(search.ranges);
	return code;
}
