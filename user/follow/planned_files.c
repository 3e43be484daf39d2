/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See planned_files.h. */
#include "follow/planned_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "decode/plan_module.h"
#include "probe/walker.h"
#include "system/proc.h"
#include "system/process_memory.h"

/* The most bytes read of an environment. */
#define ENVIRONMENT_MAX (128u << 10)

void planned_files_init(struct planned_files *files, const struct plan_options *options)
{
	plan_init(&files->plan, files->modules, options);
}

void planned_files_free(struct planned_files *files)
{
	plan_free(&files->plan);
	free(files->items);
	files->items = NULL;
	files->count = files->capacity = 0;
}

/* glibc's allocator is one object file; at the end of a thread it frees from there what it kept for the thread. */
static bool probe_is_in_allocator(const struct plan *plan, const struct plan_probe *probe)
{
	static const char *const members[] = { "malloc",  "free",     "calloc",
					       "realloc", "memalign", "aligned_alloc",
					       "valloc",  "pvalloc",  "posix_memalign" };
	size_t i;

	if (strcmp(plan->functions[probe->function].allocator, "glibc") != 0)
		return false;
	for (i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (!strcmp(probe->symbol, members[i]))
			return true;
	return false;
}

static void planned_file_find_allocator(struct planned_file *file, const struct plan *plan)
{
	const struct plan_probe *probes = plan->probes + file->first;
	uint64_t low = UINT64_MAX, high = 0;
	size_t i;

	for (i = 0; i < file->count; i++) {
		if (!probe_is_in_allocator(plan, &probes[i]))
			continue;
		low = probes[i].entry_offset < low ? probes[i].entry_offset : low;
		high = probes[i].entry_offset > high ? probes[i].entry_offset : high;
	}
	if (low >= high)
		return;
	file->inner_low = low;
	file->inner_high = high;
}

/* Publish to BPF which callers of a file's free functions are the allocator itself. */
static void planned_file_set_inner_callers(const struct planned_file *file,
					   const struct plan_probe *probes, const struct maps *maps)
{
	uint64_t low = file->inner_low, high = file->inner_high;
	struct inner_callers callers;
	size_t i;

	for (i = 0; i < file->count && low < high; i++) {
		if (SHAPE_OP(probes[i].shape) != CALL_FREE ||
		    probes[i].function >= INNER_CALLERS_MAX)
			continue;
		callers.low = (int64_t)(low - probes[i].site_offset);
		callers.high = (int64_t)(high - probes[i].site_offset);
		maps_set(maps, MAPS_INNER_CALLERS, &probes[i].function, &callers);
	}
}

/* Publish to BPF which functions return blocks of one size. */
static void planned_file_set_fixed_sizes(const struct planned_file *file,
					 const struct plan_probe *probes, const struct maps *maps)
{
	size_t i;

	for (i = 0; i < file->count; i++)
		if (probes[i].fixed_size)
			maps_set(maps, MAPS_FIXED_SIZES, &probes[i].function,
				 &probes[i].fixed_size);
}

/* Publish to BPF where the arguments of a file's samples are. */
static void planned_file_set_samples(struct planned_file *file, const struct plan_probe *probes,
				     const struct maps *maps)
{
	uint32_t key;
	size_t i;

	for (i = 0; i < file->count; i++) {
		if (!plan_probe_is_sample(&probes[i]))
			continue;
		file->samples = true;
		key = SHAPE_SAMPLE_KEY(probes[i].shape);
		maps_set(maps, MAPS_SAMPLE_SITES, &key, &probes[i].sample);
	}
}

/* Some allocators walk stacks if the environment asks for it. A process may make a read of /proc/PID/environ last for ever. */
static void planned_files_seek_walker(struct planned_files *files, const struct process *process)
{
	pid_t pid = process->target.pid;
	uint64_t start, end;
	ssize_t size;
	char *text;

	if (files->plan.walker || !files->plan.options.seek_walkers ||
	    proc_read_environment_range("/proc", pid, &start, &end))
		return;
	if (end - start > ENVIRONMENT_MAX)
		end = start + ENVIRONMENT_MAX;
	text = memory_alloc(1, end - start);
	size = process_memory_read_present(pid, start, text, end - start);
	if (size > 0)
		files->plan.walker = walker_of_environment(text, (size_t)size);
	free(text);
}

/* It is planned already, perhaps as another module, or before it was closed. */
static struct planned_file *planned_files_find(const struct planned_files *files, uint32_t index,
					       const struct module *module)
{
	size_t i;

	for (i = 0; i < files->count; i++) {
		struct planned_file *file = &files->items[i];

		if (file->module == index ||
		    (file->device == module->file_device && file->inode == module->file_inode))
			return file;
	}
	return NULL;
}

static struct planned_file *planned_files_add(struct planned_files *files,
					      const struct process *process, uint32_t index,
					      const struct module *module)
{
	struct plan *plan = &files->plan;
	struct planned_file *file;

	files->items =
		memory_grow(files->items, files->count, &files->capacity, sizeof(*files->items));
	file = &files->items[files->count++];
	*file = (struct planned_file){ .device = module->file_device,
				       .inode = module->file_inode,
				       .module = index,
				       .first = plan->count };
	planned_files_seek_walker(files, process);
	file->count = plan_add_module(plan, files->decoder, index);
	file->allocates = module->allocates;
	planned_file_find_allocator(file, plan);
	planned_file_set_inner_callers(file, plan->probes + file->first, files->maps);
	planned_file_set_fixed_sizes(file, plan->probes + file->first, files->maps);
	planned_file_set_samples(file, plan->probes + file->first, files->maps);
	return file;
}

const struct planned_file *planned_files_plan(struct planned_files *files,
					      const struct process *process, uint32_t index)
{
	struct module *module = module_list_get(files->modules, index);
	struct planned_file *file;

	/* The plan lists it among the searched files. */
	if (module && module->fd < 0) {
		plan_add_module(&files->plan, files->decoder, index);
		notices_unopened(files->notices, module);
	}
	if (!module || module->fd < 0 || !module->file_inode)
		return NULL;
	file = planned_files_find(files, index, module);
	if (!file)
		return planned_files_add(files, process, index, module);
	file->device = module->file_device;
	file->inode = module->file_inode;
	return file;
}

const struct planned_file *planned_files_get(const struct planned_files *files, uint32_t module)
{
	const struct module *mapped = module_list_get(files->modules, module), *planned;
	size_t i;

	for (i = 0; mapped && i < files->count; i++) {
		const struct planned_file *file = &files->items[i];

		planned = module_list_get(files->modules, file->module);
		if (file->count && planned && planned->fd >= 0 &&
		    (file->module == module ||
		     (planned->device == mapped->device && planned->inode == mapped->inode)))
			return file;
	}
	return NULL;
}

bool planned_files_lack(const struct planned_files *files, uint32_t module)
{
	const struct module *mapped = module_list_get(files->modules, module);

	return mapped && mapped->fd >= 0 && mapped->file_inode &&
	       !planned_files_find(files, module, mapped);
}

bool planned_files_hold_inner(const struct planned_files *files, const struct frame *frame)
{
	size_t i;

	for (i = 0; i < files->count; i++)
		if (files->items[i].module == frame->module &&
		    frame->offset >= files->items[i].inner_low &&
		    frame->offset < files->items[i].inner_high)
			return true;
	return false;
}

void planned_files_forget(struct planned_files *files, uint32_t module)
{
	size_t i, kept = 0;

	for (i = 0; i < files->count; i++) {
		struct planned_file *file = &files->items[i];

		if (file->module == module)
			file->device = file->inode = 0;
		if (file->module != module || file->count)
			files->items[kept++] = *file;
	}
	files->count = kept;
	plan_forget_module(&files->plan, module);
}
