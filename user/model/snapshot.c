/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See snapshot.h. */
#include "model/snapshot.h"

#include <stdlib.h>

#include "base/memory.h"
#include "model/loss.h"

struct snapshot *snapshot_new(void)
{
	return memory_alloc(1, sizeof(struct snapshot));
}

void snapshot_set_modules(struct snapshot *snapshot, const struct module_list *modules)
{
	snapshot->modules = module_list_copy(modules);
}

void snapshot_hold_names(struct snapshot *snapshot, struct name_pool *names)
{
	snapshot->names = memory_grow(snapshot->names, snapshot->name_count,
				      &snapshot->name_capacity, sizeof(struct name_pool *));
	snapshot->names[snapshot->name_count++] = name_pool_share(names);
}

void snapshot_set_marks(struct snapshot *snapshot, const struct marks *marks)
{
	size_t i;

	for (i = 0; i < marks->count; i++)
		marks_add(&snapshot->marks, marks->times_ns[i]);
	snapshot->births_known = true;
}

static const struct target *snapshot_target(struct snapshot *snapshot, const struct target *target)
{
	struct target *copy = table_get(&snapshot->target_copies, (uintptr_t)target);

	if (copy)
		return copy;
	copy = target_copy(target);
	table_put(&snapshot->target_copies, (uintptr_t)target, copy);
	return copy;
}

static const struct function_name *snapshot_function(struct snapshot *snapshot,
						     const struct function_name *function)
{
	struct function_name *copy = table_get(&snapshot->function_copies, (uintptr_t)function);

	if (copy)
		return copy;
	copy = memory_alloc(1, sizeof(*copy));
	*copy = (struct function_name){
		.allocator = strings_keep(&snapshot->strings, function->allocator),
		.function = strings_keep(&snapshot->strings, function->function),
		.sampled = function->sampled,
	};
	table_put(&snapshot->function_copies, (uintptr_t)function, copy);
	return copy;
}

void snapshot_add_target(struct snapshot *snapshot, const struct target *target)
{
	snapshot->targets = memory_grow(snapshot->targets, snapshot->target_count,
					&snapshot->target_capacity, sizeof(*snapshot->targets));
	snapshot->targets[snapshot->target_count++] = snapshot_target(snapshot, target);
}

void snapshot_add_site(struct snapshot *snapshot, const struct snapshot_site *site)
{
	struct snapshot_site *to;

	snapshot->sites = memory_grow(snapshot->sites, snapshot->site_count,
				      &snapshot->site_capacity, sizeof(*snapshot->sites));
	to = &snapshot->sites[snapshot->site_count++];
	*to = *site;
	to->target = snapshot_target(snapshot, site->target);
	to->function = snapshot_function(snapshot, site->function);
	generations_copy(&to->births, &site->births);
	to->stack = stack_share((struct stack *)(uintptr_t)site->stack);
}

struct generations snapshot_births(const struct snapshot_site *row)
{
	const struct snapshot_site *sites = row->member_count ? row->members : row;
	const size_t count = row->member_count ? row->member_count : 1;
	struct generations births = { 0 };
	size_t i, n;

	for (i = 0; i < count; i++)
		for (n = 0; n < sites[i].births.count; n++)
			generations_add(&births, &sites[i].births.items[n]);
	return births;
}

static void snapshot_free_copies(struct snapshot *snapshot)
{
	const struct table_slot *slot;
	size_t cursor;

	for (cursor = 0; (slot = table_next(&snapshot->target_copies, &cursor));)
		target_free(slot->value);
	for (cursor = 0; (slot = table_next(&snapshot->function_copies, &cursor));)
		free(slot->value);
	table_free(&snapshot->target_copies);
	table_free(&snapshot->function_copies);
	strings_free(&snapshot->strings);
}

void snapshot_free(struct snapshot *snapshot)
{
	size_t i;

	if (!snapshot)
		return;
	for (i = 0; i < snapshot->site_count; i++) {
		stack_free((struct stack *)(uintptr_t)snapshot->sites[i].stack);
		generations_free(&snapshot->sites[i].births);
	}
	marks_free(&snapshot->marks);
	for (i = 0; i < snapshot->name_count; i++)
		name_pool_free(snapshot->names[i]);
	snapshot_free_copies(snapshot);
	module_list_free(snapshot->modules);
	free(snapshot->modules);
	budget_report_free(snapshot->budget);
	light_report_free(snapshot->light);
	free(snapshot->names);
	free(snapshot->targets);
	free(snapshot->sites);
	free(snapshot);
}

static bool snapshot_is_whole(const struct snapshot *snapshot)
{
	int loss;

	for (loss = 0; loss < LOSS_COUNT; loss++)
		if (snapshot->loss[loss] && loss != LOSS_CHILDREN_MISSED &&
		    loss_kind((enum loss)loss) != LOSS_KIND_STACK)
			return false;
	return true;
}

bool snapshot_saw_no_call(const struct snapshot *snapshot, int pid)
{
	size_t i;

	for (i = 0; i < snapshot->site_count; i++)
		if (!snapshot->sites[i].ended && snapshot->sites[i].target &&
		    snapshot->sites[i].target->pid == pid)
			return false;
	return snapshot_is_whole(snapshot);
}
