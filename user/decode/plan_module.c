/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See plan_module.h. */
#include "decode/plan_module.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "probe/switching.h"
#include "probe/walker.h"
#include "system/end_signals.h"

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

/* What every file is asked for once. */
static void plan_describe_module(struct plan *plan, struct decoder *decoder, struct module *module)
{
	struct file_facts facts = { 0 };

	if (module->described || module->fd < 0)
		return;
	module->described = true;
	decoder_prepare(decoder, module, plan);
	module->is_program = !decoder_describe(decoder, module, &facts);
	module->stripped = module->is_program && !*facts.interpreter && !facts.has_symbols;
	if (!switching_is_harmless(module->path))
		module->switches_by = switching_name(facts.switching);
	module->build_id_size = facts.build_id_size;
	memcpy(module->build_id, facts.build_id, sizeof(module->build_id));
	if (plan->options.usdt == USDT_AUTO)
		plan->has_samplers |= facts.has_samplers != 0;
}

/* What is probed of one file depends on whether another one has samples. */
static void plan_describe_modules(struct plan *plan, struct decoder *decoder, uint32_t index)
{
	struct module *module;

	for (; plan->sought_count < plan->modules->count; plan->sought_count++) {
		module = module_list_get(plan->modules, (uint32_t)plan->sought_count);
		if (module)
			plan_describe_module(plan, decoder, module);
	}
	module = module_list_get(plan->modules, index);
	if (module)
		plan_describe_module(plan, decoder, module);
}

static void plan_seek_in(struct plan *plan, const struct module *module)
{
	if (plan->options.seek_walkers && !plan->walker)
		plan->walker = walker_of_path(module->path);
	if (!plan->switching && module->switches_by) {
		plan->switching = plan_keep_text(plan, module->path);
		plan->switches_by = module->switches_by;
	}
}

/*
 * Stacks may be walked, and left, in any of the functions that a process calls: all modules that are known are asked before the
 * first is planned, and this one, which may not have been open before.
 */
static void plan_seek_dangers(struct plan *plan, uint32_t index)
{
	const struct module *module;

	for (; plan->walker_count < plan->modules->count; plan->walker_count++) {
		module = module_list_get(plan->modules, (uint32_t)plan->walker_count);
		if (module)
			plan_seek_in(plan, module);
	}
	module = module_list_get(plan->modules, index);
	if (module)
		plan_seek_in(plan, module);
}

size_t plan_add_module(struct plan *plan, struct decoder *decoder, uint32_t index)
{
	const struct module *module = module_list_get(plan->modules, index);
	const size_t before = plan->count;
	const char *failure;

	plan_describe_modules(plan, decoder, index);
	plan_seek_dangers(plan, index);
	if (module && module->inode && !module->unmapped && plan_note_searched(plan, index) &&
	    module->fd < 0 && !module->no_fd)
		plan_add_unreadable(plan, index);
	if (!module || module->fd < 0)
		return 0;
	failure = decoder_failure(decoder_plan(decoder, plan, index));
	if (failure)
		plan_skip(plan, index, true, "an allocator in it is not seen: %s", failure);
	return plan->count - before;
}

void plan_forget_module(struct plan *plan, uint32_t module)
{
	size_t i, kept = 0;

	for (i = 0; i < plan->searched_count; i++)
		if (plan->searched[i] != module)
			plan->searched[kept++] = plan->searched[i];
	plan->searched_count = kept;
}

/* What a file lacks, if that is known. */
static const char *module_lacks(const struct module *module)
{
	if (module->fd < 0)
		return " (cannot be read)";
	if (!module->is_program)
		return " (no program or library of this machine)";
	return module->stripped ? " (stripped)" : "";
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
	const bool found = plan_count_calls(plan, 0, plan->count);

	/* Files are not read any more then, and of those nothing is known. */
	if (!found && end_signals_are_urgent())
		return error_set(error, ERROR_PERMISSION, -ECANCELED,
				 "a signal has ended the tracer before anything was traced");
	if (!found)
		return plan_refuse(plan, error);
	return plan_check_named(plan, log, error);
}
