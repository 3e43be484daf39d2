/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See plan_module.h. */
#include "kernel/plan_module.h"

#include <errno.h>
#include <stdbool.h>

#include "base/memory.h"
#include "base/text.h"
#include "discover/debug_symbols.h"

/* As much of the list of files as an error has room for. */
#define SEARCHED_MAX 600

/* False if it was noted before. */
static bool plan_note_searched(struct plan *plan, uint32_t index)
{
	size_t i;

	for (i = 0; i < plan->searched_count; i++)
		if (plan->searched[i] == index)
			return false;
	plan->searched = memory_grow(plan->searched, plan->searched_count, &plan->searched_capacity,
				     sizeof(*plan->searched));
	plan->searched[plan->searched_count++] = index;
	return true;
}

/* What is probed of one file depends on whether another one tells of samples. */
static void plan_seek_modules(struct plan *plan)
{
	const struct module *module;
	struct elf_file *file;

	if (plan->options.usdt != USDT_AUTO)
		return;
	for (; plan->sought_count < plan->modules->count; plan->sought_count++) {
		module = module_list_get(plan->modules, (uint32_t)plan->sought_count);
		file = module && module->fd >= 0 ? elf_file_open(module->fd, NULL) : NULL;
		if (!file)
			continue;
		plan_seek_samples(plan, file);
		elf_file_close(file);
	}
}

size_t plan_add_module(struct plan *plan, uint32_t index)
{
	const struct module *module = module_list_get(plan->modules, index);
	const size_t skipped = plan->skipped_count, ranges = plan->range_count;
	struct elf_file *file;
	size_t added;

	plan_seek_modules(plan);
	if (module && module->inode && plan_note_searched(plan, index) && module->fd < 0 &&
	    !module->starved)
		plan_add_unreadable(plan, index);
	file = module && module->fd >= 0 ? elf_file_open(module->fd, NULL) : NULL;
	if (!file)
		return 0;
	added = plan_add_file(plan, index, file);
	/* Something that is linked into a stripped program may be known to its debug file. */
	if (!added && plan->skipped_count == skipped && plan->options.usdt != USDT_ONLY &&
	    debug_symbols_add(module, file))
		added = plan_add_file(plan, index, file);
	else if (plan_module_samples(plan, index) && plan->range_count == ranges &&
		 debug_symbols_add(module, file))
		plan_find_ranges(plan, index, file);
	elf_file_close(file);
	return added;
}

void plan_forget_module(struct plan *plan, uint32_t module)
{
	size_t i, kept = 0;

	for (i = 0; i < plan->searched_count; i++)
		if (plan->searched[i] != module)
			plan->searched[kept++] = plan->searched[i];
	plan->searched_count = kept;
}

/* What a file lacks, as far as it can be told. */
static const char *module_lacks(const struct module *module)
{
	struct elf_file *file;
	const char *what = "";

	if (module->fd < 0)
		return " (cannot be read: of a file that was deleted or replaced, with "
		       "CAP_DAC_READ_SEARCH and CAP_CHECKPOINT_RESTORE only)";
	file = elf_file_open(module->fd, NULL);
	if (!file)
		return " (no program or library of this machine)";
	if (!elf_file_interpreter(file) && !elf_file_has_symbols(file))
		what = " (stripped)";
	elf_file_close(file);
	return what;
}

/* What nothing was found of. */
static const char *plan_lacks(const struct plan *plan)
{
	if (plan->options.usdt == USDT_ONLY)
		return "none of these files carries the USDT probes otel_memory:alloc and "
		       "otel_memory:free that can be probed";
	return "none of these files defines malloc, free or another known allocator function, nor "
	       "has a debug file that does";
}

static int plan_refuse(const struct plan *plan, struct error *error)
{
	bool only = plan->options.usdt == USDT_ONLY;
	struct buffer searched = { 0 };
	size_t i;
	int code;

	for (i = 0; i < plan->searched_count && searched.length < SEARCHED_MAX; i++) {
		const struct module *module = module_list_get(plan->modules, plan->searched[i]);

		buffer_append_string(&searched, i ? ", " : "");
		text_append_safe(&searched, module->path);
		buffer_append_string(&searched, only ? "" : module_lacks(module));
	}
	if (i < plan->searched_count)
		buffer_printf(&searched, " and %zu more", plan->searched_count - i);
	code = error_set(error, ERROR_NOTHING, -ENOENT, "nothing to probe: %s: %s; %s",
			 plan_lacks(plan), searched.length ? searched.data : "(no file is mapped)",
			 only ? "without --usdt only, functions are probed"
			      : "functions that you know can be named with --alloc and --free");
	buffer_free(&searched);
	return code;
}

int plan_check(const struct plan *plan, const struct log *log, struct error *error)
{
	if (!plan_count_calls(plan, 0, plan->count))
		return plan_refuse(plan, error);
	return plan_check_named(plan, log, error);
}
