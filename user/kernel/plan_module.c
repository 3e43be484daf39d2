/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See plan_module.h. */
#include "kernel/plan_module.h"

#include "discover/debug_symbols.h"

size_t plan_add_module(struct plan *plan, uint32_t index)
{
	const struct module *module = module_list_get(plan->modules, index);
	const size_t skipped = plan->skipped_count;
	struct elf_file *file;
	size_t added;

	file = module && module->fd >= 0 ? elf_file_open(module->fd, NULL) : NULL;
	if (!file)
		return 0;
	added = plan_add_file(plan, index, file);
	/* Something that is linked into a stripped program may be known to its debug file. */
	if (!added && plan->skipped_count == skipped && debug_symbols_add(module, file))
		added = plan_add_file(plan, index, file);
	elf_file_close(file);
	return added;
}
