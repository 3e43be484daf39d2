/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See leak_rows.h. */
#include "analyze/leak_rows.h"

#include <string.h>

#include "base/memory.h"
#include "base/units.h"

struct leak_rows {
	struct snapshot *snapshot; /* that is being made */
	const struct leak_report *report;
	const struct snapshot *traced;
	struct table sites; /* of `traced`, by key */
	struct name_pool *names;
	const struct target *target; /* of all rows: reports know it by its address */
	struct target own; /* where the trace has none */
};

/* Of blocks whose allocation nobody has seen. */
static const struct function_name function_unknown;

void leak_rows_describe(const struct leak_group *group, struct buffer *out)
{
	if (group->size)
		buffer_printf(out, "%llu byte%s", (unsigned long long)group->size,
			      units_s(group->size));
	else
		buffer_append_string(out, "several sizes");
	if (*group->kind)
		buffer_printf(out, ", %s", group->kind);
	if (*group->name)
		buffer_printf(out, " %s", group->name);
}

/* What such a group is, in the place of a stack. */
static struct stack *rows_make_stack(struct leak_rows *rows, const struct leak_group *group)
{
	struct stack *stack = memory_alloc(1, sizeof(*stack) + sizeof(stack->frames[0]));
	struct buffer text = { 0 };
	struct frame_name name = { 0 };

	buffer_append_string(&text, "[no stack: ");
	leak_rows_describe(group, &text);
	buffer_append_string(&text, "]");
	name.function = text.data;
	stack->count = 1;
	stack->frames[0] = (struct frame){ .kind = FRAME_NATIVE,
					   .module = MODULE_NONE,
					   .name = name_pool_keep(rows->names, &name),
					   .whole = true };
	buffer_free(&text);
	return stack;
}

static struct site_stats rows_stats(const struct leak_group *group)
{
	return (struct site_stats){
		.alloc_bytes = group->own.bytes + group->indirect.bytes,
		.alloc_objects = group->own.blocks + group->indirect.blocks,
	};
}

static void rows_add(struct leak_rows *rows, const struct leak_group *group, size_t number)
{
	const struct snapshot_site *site = group->site ? table_get(&rows->sites, group->site)
						       : NULL;
	struct snapshot_site row = { .key = number + 1,
				     .target = rows->target,
				     .function = site ? site->function : &function_unknown,
				     .source = SOURCE_HEAP,
				     .stats = rows_stats(group) };
	struct stack *made = site ? NULL : rows_make_stack(rows, group);

	row.stack = site ? site->stack : made;
	snapshot_add_site(rows->snapshot, &row);
	stack_free(made);
}

static void rows_find_target(struct leak_rows *rows)
{
	const struct snapshot *traced = rows->traced;
	size_t i;

	rows->own = (struct target){ .pid = rows->report->pid, .pidfd = -1 };
	memcpy(rows->own.comm, rows->report->comm, sizeof(rows->own.comm));
	rows->target = &rows->own;
	for (i = 0; traced && i < traced->target_count; i++)
		if (traced->targets[i]->pid == rows->report->pid)
			rows->target = traced->targets[i];
}

static void rows_begin(struct leak_rows *rows)
{
	const struct module_list none = { 0 };
	const struct snapshot *traced = rows->traced;
	struct snapshot *snapshot = rows->snapshot;
	size_t i;

	snapshot->wall_time = rows->report->wall_time;
	snapshot->time_ns = traced ? traced->time_ns : rows->report->duration_ns;
	snapshot->start_ns = traced ? traced->start_ns : 0;
	snapshot->id_seed = traced ? traced->id_seed : 0;
	snapshot_set_modules(snapshot, traced ? traced->modules : &none);
	snapshot_hold_names(snapshot, rows->names);
	for (i = 0; traced && i < traced->name_count; i++)
		snapshot_hold_names(snapshot, traced->names[i]);
	for (i = 0; traced && i < traced->site_count; i++)
		table_put(&rows->sites, traced->sites[i].key, &traced->sites[i]);
	rows_find_target(rows);
	snapshot_add_target(snapshot, rows->target);
}

struct snapshot *leak_rows_build(const struct leak_report *report, const struct snapshot *traced)
{
	struct leak_rows rows = { .snapshot = snapshot_new(),
				  .report = report,
				  .traced = traced,
				  .names = name_pool_new() };
	size_t i;

	rows_begin(&rows);
	for (i = 0; i < report->group_count; i++)
		rows_add(&rows, &report->groups[i], i);
	name_pool_free(rows.names);
	table_free(&rows.sites);
	return rows.snapshot;
}
