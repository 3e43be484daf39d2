/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See interner.h. */
#include "recording/interner.h"

#include "base/hash.h"
#include "base/seed.h"
#include "model/frame_kind.h"

void interner_open(struct interner *interner, struct database *database,
		   const struct interner_names *names)
{
	*interner = (struct interner){ .database = database, .names = *names, .seed = seed_new() };
	query_open(&interner->add_module, database, "INSERT INTO module VALUES(?, ?, ?, ?, ?)");
	query_open(&interner->set_build_id, database,
		   "UPDATE module SET build_id = ? WHERE id = ?");
	query_open(&interner->add_frame, database,
		   "INSERT INTO frame VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	query_open(&interner->add_name, database, "INSERT INTO name VALUES(?, ?, ?, ?)");
	query_open(&interner->add_symbol, database,
		   "INSERT INTO symbol VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
	query_open(&interner->add_function, database, "INSERT INTO function VALUES(?, ?, ?, ?)");
	query_open(&interner->add_target, database,
		   "INSERT INTO target VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
}

void interner_close(struct interner *interner)
{
	query_close(&interner->add_module);
	query_close(&interner->set_build_id);
	query_close(&interner->add_frame);
	query_close(&interner->add_name);
	query_close(&interner->add_symbol);
	query_close(&interner->add_function);
	query_close(&interner->add_target);
	table_free(&interner->modules);
	table_free(&interner->build_ids);
	table_free(&interner->frames);
	table_free(&interner->frame_names);
	table_free(&interner->places);
	table_free(&interner->functions);
	table_free(&interner->targets);
}

/* The id of what has this hash; 0 = it is new. */
static uint64_t interner_find(const struct table *table, uint64_t hash)
{
	return (uintptr_t)table_get(table, hash);
}

/* Give the next id to what has this hash. */
static uint64_t interner_add(struct table *table, uint64_t hash, uint64_t *count)
{
	table_put(table, hash, (void *)(uintptr_t)++ * count);
	return *count;
}

static uint64_t interner_hash_text(uint64_t hash, const char *text)
{
	return hash_word(text ? hash_string(hash, text) : hash, text != NULL);
}

/* A module's build ID may be found later than its first frame. */
static void interner_see_build_id(struct interner *interner, const struct module *module,
				  uint64_t id)
{
	char text[2 * BUILD_ID_MAX + 1];

	if (!module->build_id_size || interner_find(&interner->build_ids, id))
		return;
	table_put(&interner->build_ids, id, (void *)(uintptr_t)id);
	query_text(&interner->set_build_id, module_format_build_id(module, text));
	query_number(&interner->set_build_id, id);
	query_run(&interner->set_build_id);
}

/* 0 = there is none. */
static uint64_t interner_module(struct interner *interner, const struct module *module)
{
	uint64_t id;

	if (!module)
		return 0;
	id = interner_find(&interner->modules, module->number);
	if (!id) {
		id = interner_add(&interner->modules, module->number, &interner->module_count);
		query_number(&interner->add_module, id);
		query_text(&interner->add_module, module->path);
		query_null(&interner->add_module);
		query_word(&interner->add_module, module->device);
		query_word(&interner->add_module, module->inode);
		query_run(&interner->add_module);
	}
	interner_see_build_id(interner, module, id);
	return id;
}

/* 0 = there is none. */
static uint64_t interner_name(struct interner *interner, const struct frame_name *name)
{
	uint64_t hash = interner->seed, id;

	if (!name)
		return 0;
	hash = interner_hash_text(hash, name->function);
	hash = hash_word(interner_hash_text(hash, name->file), name->line);
	id = interner_find(&interner->frame_names, hash);
	if (id)
		return id;
	id = interner_add(&interner->frame_names, hash, &interner->name_count);
	query_number(&interner->add_name, id);
	query_text(&interner->add_name, name->function);
	query_text(&interner->add_name, name->file);
	query_number(&interner->add_name, name->line);
	query_run(&interner->add_name);
	return id;
}

/* `caller`: the id of the next frame outwards; 0 = there is none. */
static uint64_t interner_frame(struct interner *interner, const struct snapshot *snapshot,
			       const struct frame *frame, uint64_t caller)
{
	uint64_t module =
		interner_module(interner, module_list_get(snapshot->modules, frame->module));
	uint64_t name = interner_name(interner, frame->name);
	uint64_t hash = hash_word(hash_word(interner->seed, caller), frame->kind), id;

	hash = hash_word(hash_word(hash, module), frame->offset);
	hash = hash_word(hash_word(hash, frame->address), name);
	hash = hash_word(interner_hash_text(hash, frame->reason),
			 frame->whole | frame->internal << 1);
	id = interner_find(&interner->frames, hash);
	if (id)
		return id;
	id = interner_add(&interner->frames, hash, &interner->frame_count);
	query_number(&interner->add_frame, id);
	query_number(&interner->add_frame, caller);
	query_text(&interner->add_frame, frame_kind_name(frame->kind));
	query_number(&interner->add_frame, module);
	query_word(&interner->add_frame, frame->offset);
	query_word(&interner->add_frame, frame->address);
	query_number(&interner->add_frame, name);
	query_text(&interner->add_frame, frame->reason);
	query_number(&interner->add_frame, frame->whole);
	query_number(&interner->add_frame, frame->internal);
	query_run(&interner->add_frame);
	return id;
}

uint64_t interner_stack(struct interner *interner, const struct snapshot *snapshot,
			const struct stack *stack)
{
	uint64_t id = 0;
	uint32_t i;

	for (i = stack->count; i > 0; i--)
		id = interner_frame(interner, snapshot, &stack->frames[i - 1], id);
	return id;
}

/* Names */

static void interner_write_symbol(struct interner *interner, uint64_t module,
				  const struct frame *frame, size_t position,
				  const struct symbol *symbol, const char *hint)
{
	struct query *query = &interner->add_symbol;

	query_number(query, module);
	query_word(query, frame->offset);
	query_number(query, position);
	query_text(query, symbol->function);
	query_text(query, symbol->file);
	query_number(query, symbol->line);
	query_number(query, symbol->inlined);
	query_text(query, hint);
	query_run(query);
}

/* Returns whether the place of `frame` in its module has a name, or what may have it is known. */
static bool interner_name_frame(struct interner *interner, const struct snapshot *snapshot,
				const struct frame *frame)
{
	uint64_t module =
		interner_module(interner, module_list_get(snapshot->modules, frame->module));
	uint64_t hash = hash_word(hash_word(interner->seed, module), frame->offset);
	const struct symbol_list *symbols;
	const char *hint = NULL;
	size_t i;

	if (!module || !frame->offset || interner_find(&interner->places, hash))
		return true;
	symbols = interner->names.lookup(interner->names.context, frame);
	if (!symbols->items[0].function && interner->names.hint)
		hint = interner->names.hint(interner->names.context, frame);
	if (!symbols->items[0].function && !hint)
		return false;
	table_put(&interner->places, hash, interner);
	for (i = 0; i < symbols->count; i++)
		interner_write_symbol(interner, module, frame, i, &symbols->items[i],
				      i ? NULL : hint);
	return true;
}

bool interner_name_stack(struct interner *interner, const struct snapshot *snapshot,
			 const struct stack *stack)
{
	bool all = true;
	uint32_t i;

	for (i = 0; i < stack->count && interner->names.lookup; i++)
		if (stack->frames[i].kind == FRAME_NATIVE)
			all &= interner_name_frame(interner, snapshot, &stack->frames[i]);
	return all;
}

/* Functions and processes */

uint64_t interner_function(struct interner *interner, const struct function_name *function)
{
	uint64_t hash = interner_hash_text(interner->seed, function->allocator), id;

	hash = hash_word(interner_hash_text(hash, function->function), function->sampled);
	id = interner_find(&interner->functions, hash);
	if (id)
		return id;
	id = interner_add(&interner->functions, hash, &interner->function_count);
	query_number(&interner->add_function, id);
	query_text(&interner->add_function, function->allocator);
	query_text(&interner->add_function, function->function);
	query_number(&interner->add_function, function->sampled);
	query_run(&interner->add_function);
	return id;
}

uint64_t interner_target(struct interner *interner, const struct target *target, uint64_t other)
{
	uint64_t hash = hash_word(hash_word(interner->seed, other), (uint64_t)target->pid), id;

	hash = hash_word(hash_word(hash, (uint64_t)target->parent), target->exec_ns);
	hash = hash_word(interner_hash_text(hash, target->comm), target->mount_namespace);
	hash = interner_hash_text(interner_hash_text(hash, target->exe), target->directory);
	hash = interner_hash_text(hash, target->root);
	id = interner_find(&interner->targets, hash);
	if (id)
		return id;
	id = interner_add(&interner->targets, hash, &interner->target_count);
	query_number(&interner->add_target, id);
	query_number(&interner->add_target, (uint64_t)target->pid);
	query_number(&interner->add_target, (uint64_t)target->parent);
	query_text(&interner->add_target, target->comm);
	query_text(&interner->add_target, target->exe);
	query_text(&interner->add_target, target->directory);
	query_text(&interner->add_target, target->root);
	query_word(&interner->add_target, target->mount_namespace);
	query_number(&interner->add_target, target->exec_ns);
	query_run(&interner->add_target);
	return id;
}
