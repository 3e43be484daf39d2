/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See judge.h. */
#include "analyze/judge.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/wrappers.h"
#include "base/buffer.h"
#include "base/memory.h"

/* What is kept of a list of rules: whether it fits, by identity or module. */
struct fits {
	const struct frame_rule_list *rules;
	struct table by_identity, by_module;
};

/* Of a target. */
struct judged_target {
	struct owner_place place;
	const char *program;
	bool interpreted;
	bool master; /* the parent of a process of its program */
};

struct judge {
	const struct snapshot *snapshot;
	const struct frame_rules *rules;
	const struct report_names *names;
	struct frame_rules folded; /* `hide` is the preset "@std" */
	struct fits hides, wants, folds;
	bool knows_interpreted, knows_processes, knows_wrappers;
	struct wrappers wrappers;
	struct table targets; /* struct judged_target */
	struct table processes; /* by the address of a program's name: how many run */
	struct table masters; /* likewise, how many of them are masters */
	struct strings texts;
};

static const char fitting[1], not_fitting[1];

/* The texts that rules ask about. */
static struct frame_text judge_text(const struct judge *judge, const struct frame_view *view)
{
	const struct module *module =
		module_list_get(judge->snapshot->modules, view->frame->module);

	return (struct frame_text){ .function = view->function,
				    .file = view->file,
				    .module = module ? module->path : NULL,
				    .kind = view->frame->kind };
}

static bool judge_fits(const struct judge *judge, struct fits *fits, const struct frame_view *view)
{
	struct table *table = view->identity ? &fits->by_identity : &fits->by_module;
	uint64_t key = view->identity ? (uintptr_t)view->identity
				      : (uint64_t)view->frame->module + 1;
	struct frame_text text;
	const void *known;

	if (!fits->rules->count || view->frame->kind == FRAME_ERROR)
		return false;
	known = table_get(table, key);
	if (!known) {
		text = judge_text(judge, view);
		known = frame_rules_fit(fits->rules, &text) ? fitting : not_fitting;
		table_put(table, key, (void *)(uintptr_t)known);
	}
	return known == fitting;
}

static void fits_free(struct fits *fits)
{
	table_free(&fits->by_identity);
	table_free(&fits->by_module);
}

struct judge *judge_new(const struct snapshot *snapshot, const struct frame_rules *rules,
			const struct report_names *names)
{
	static const struct frame_rules none;
	struct judge *judge = memory_alloc(1, sizeof(*judge));

	judge->snapshot = snapshot;
	judge->rules = rules ? rules : &none;
	judge->names = names;
	frame_rules_add(&judge->folded.hide, "@std", NULL);
	judge->hides.rules = &judge->rules->hide;
	judge->wants.rules = &judge->rules->only;
	judge->folds.rules = &judge->folded.hide;
	return judge;
}

void judge_free(struct judge *judge)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	if (!judge)
		return;
	while ((slot = table_next(&judge->targets, &cursor))) {
		owner_place_close(&((struct judged_target *)slot->value)->place);
		free(slot->value);
	}
	table_free(&judge->targets);
	table_free(&judge->processes);
	table_free(&judge->masters);
	frame_rules_free(&judge->folded);
	wrappers_free(&judge->wrappers);
	fits_free(&judge->hides);
	fits_free(&judge->wants);
	fits_free(&judge->folds);
	strings_free(&judge->texts);
	free(judge);
}

const struct report_names *judge_names(const struct judge *judge)
{
	return judge->names;
}

bool judge_may_hide(const struct judge *judge)
{
	return judge->rules->hide.count;
}

bool judge_hides(struct judge *judge, const struct frame_view *view)
{
	/* A row by thread is nothing but this name, and no code has it. */
	return view->frame->kind != FRAME_THREAD && judge_fits(judge, &judge->hides, view);
}

bool judge_folds(struct judge *judge, const struct frame_view *view)
{
	return judge_fits(judge, &judge->folds, view);
}

static bool judge_wants_frame(struct judge *judge, const struct frame *frame)
{
	struct frame_walk walk = frame_walk_begin(frame, judge->names);
	struct frame_view view;

	while (frame_walk_next(&walk, &view))
		if (judge_fits(judge, &judge->wants, &view))
			return true;
	return false;
}

bool judge_wants(struct judge *judge, const struct stack *stack)
{
	uint32_t i;

	if (!judge->rules->only.count)
		return true;
	for (i = 0; i < stack->count; i++)
		if (stack->frames[i].kind != FRAME_ERROR &&
		    judge_wants_frame(judge, &stack->frames[i]))
			return true;
	return false;
}

/* Targets */

/*
 * Processes of one program have the same file, in the same mount namespace, and work in the same directory: interpreters run
 * many programs.
 */
static const char *judge_name_program(struct judge *judge, const struct target *target)
{
	struct buffer name = { 0 };
	const char *program;

	if (target->exe)
		buffer_printf(&name, "%s\n%s\n%s\n%" PRIu64, target->exe,
			      target->directory ? target->directory : "",
			      target->root ? target->root : "", target->mount_namespace);
	else
		buffer_printf(&name, "%p", (const void *)target);
	program = strings_keep(&judge->texts, name.data);
	buffer_free(&name);
	return program;
}

static struct judged_target *judge_target(struct judge *judge, const struct target *target)
{
	struct judged_target *known = table_get(&judge->targets, (uintptr_t)target);

	if (known)
		return known;
	known = memory_alloc(1, sizeof(*known));
	owner_place_open(&known->place, target, judge->rules, &judge->texts);
	known->program = judge_name_program(judge, target);
	table_put(&judge->targets, (uintptr_t)target, known);
	return known;
}

const char *judge_find_program(struct judge *judge, const struct target *target)
{
	return judge_target(judge, target)->program;
}

static void judge_count(struct table *table, const char *program)
{
	uint64_t key = (uintptr_t)program;

	table_put(table, key, (void *)((uintptr_t)table_get(table, key) + 1));
}

/* `by_pid` are the targets that run. */
static void judge_find_master(struct judge *judge, const struct table *by_pid,
			      const struct target *worker)
{
	const struct target *parent = table_get(by_pid, (uint64_t)worker->parent);
	const char *program = judge_target(judge, worker)->program;
	struct judged_target *master = parent ? judge_target(judge, parent) : NULL;

	if (!master || master->master || master->program != program)
		return;
	master->master = true;
	judge_count(&judge->masters, program);
}

static void judge_count_programs(struct judge *judge)
{
	const struct snapshot *snapshot = judge->snapshot;
	struct table by_pid = { 0 };
	size_t i;

	for (i = 0; i < snapshot->target_count; i++) {
		const struct target *target = snapshot->targets[i];

		if (target->exited)
			continue;
		judge_count(&judge->processes, judge_target(judge, target)->program);
		table_put(&by_pid, (uint64_t)target->pid, (void *)(uintptr_t)target);
	}
	for (i = 0; i < snapshot->target_count; i++)
		if (!snapshot->targets[i]->exited)
			judge_find_master(judge, &by_pid, snapshot->targets[i]);
	table_free(&by_pid);
	judge->knows_processes = true;
}

size_t judge_count_processes(struct judge *judge, const struct target *target)
{
	uint64_t key = (uintptr_t)judge_target(judge, target)->program;

	if (!judge->knows_processes)
		judge_count_programs(judge);
	return (uintptr_t)table_get(&judge->processes, key);
}

size_t judge_count_masters(struct judge *judge, const struct target *target)
{
	uint64_t key = (uintptr_t)judge_target(judge, target)->program;

	if (!judge->knows_processes)
		judge_count_programs(judge);
	return (uintptr_t)table_get(&judge->masters, key);
}

bool judge_is_master(struct judge *judge, const struct target *target)
{
	return judge_count_masters(judge, target) && judge_target(judge, target)->master;
}

static bool judge_has_interpreted(const struct stack *stack)
{
	uint32_t i;

	for (i = 0; i < stack->count; i++)
		if (frame_is_interpreted(stack->frames[i].kind))
			return true;
	return false;
}

static void judge_find_interpreted(struct judge *judge)
{
	size_t i;

	for (i = 0; i < judge->snapshot->site_count; i++) {
		const struct snapshot_site *site = &judge->snapshot->sites[i];
		struct judged_target *target = judge_target(judge, site->target);

		if (!target->interpreted)
			target->interpreted = judge_has_interpreted(site->stack);
	}
}

bool judge_is_interpreted(struct judge *judge, const struct target *target)
{
	if (!judge->knows_interpreted)
		judge_find_interpreted(judge);
	judge->knows_interpreted = true;
	return judge_target(judge, target)->interpreted;
}

/* Lines */

/* A candidate for the line of a stack. */
static void judge_offer(struct app_line *best, enum owner *best_owner, const char *path,
			enum owner owner, const struct frame_view *view)
{
	if (owner <= *best_owner)
		return;
	*best_owner = owner;
	best->view = *view;
	best->path = path;
}

static void judge_offer_interpreted(struct judge *judge, struct owner_place *place,
				    const struct frame *frame, struct app_line *best,
				    enum owner *best_owner)
{
	struct frame_walk walk = frame_walk_begin(frame, judge->names);
	const struct owned_file *file;
	struct frame_view view;

	if (!frame_walk_next(&walk, &view) || !view.file || judge_hides(judge, &view))
		return;
	file = owner_of_file(place, frame->kind, view.file);
	judge_offer(best, best_owner, file->path, file->owner, &view);
}

static void judge_offer_native(struct judge *judge, struct owner_place *place,
			       const struct frame *frame, struct app_line *best,
			       enum owner *best_owner)
{
	const struct owned_file *module = owner_of_module(
		place, frame->module, module_list_get(judge->snapshot->modules, frame->module));
	struct frame_walk walk;
	struct frame_view view;

	/* Names are asked for only where they can matter. */
	if (module->owner == OWNER_PACKAGE)
		return;
	for (walk = frame_walk_begin(frame, judge->names); frame_walk_next(&walk, &view);) {
		enum owner owner = module->owner;
		const char *path = module->path;

		if (judge_hides(judge, &view) || judge_folds(judge, &view))
			continue;
		if (view.file) {
			owner = owner_of_source(place, owner, view.file);
			path = strings_keep(&judge->texts, view.file);
		}
		if (owner > OWNER_PACKAGE)
			judge_offer(best, best_owner, path, owner, &view);
	}
}

/* Does the frame allocate for others, by what the stacks show? */
static bool judge_wraps(struct judge *judge, const struct frame *frame)
{
	if (!judge->knows_wrappers)
		wrappers_find(&judge->wrappers, judge->snapshot, judge->names);
	judge->knows_wrappers = true;
	return wrappers_have(&judge->wrappers, frame);
}

/* Find the line of a stack, with or without the functions that only the stacks show to be wrappers. */
static enum owner judge_search(struct judge *judge, const struct stack *stack,
			       struct owner_place *place, bool with_wrappers, struct app_line *line)
{
	enum owner owner = OWNER_UNKNOWN;
	uint32_t i;

	for (i = 0; i < stack->count && owner < OWNER_APP; i++) {
		const struct frame *frame = &stack->frames[i];

		if (frame_is_interpreted(frame->kind))
			judge_offer_interpreted(judge, place, frame, line, &owner);
		else if (frame->kind == FRAME_NATIVE && !frame->internal &&
			 (with_wrappers || !judge_wraps(judge, frame)))
			judge_offer_native(judge, place, frame, line, &owner);
	}
	return owner;
}

bool judge_find_line(struct judge *judge, const struct snapshot_site *site,
		     struct app_line *ret_line)
{
	struct judged_target *target = judge_target(judge, site->target);
	struct app_line line = { .program = target->program };
	enum owner owner = judge_search(judge, site->stack, &target->place, false, &line);

	/* Nothing but a wrapper is the application's. */
	if (owner == OWNER_UNKNOWN)
		owner = judge_search(judge, site->stack, &target->place, true, &line);
	if (!line.view.line && line.view.function)
		line.function = strings_keep(&judge->texts, line.view.function);
	*ret_line = line;
	return owner > OWNER_UNKNOWN;
}

/* The innermost function that does not allocate for others. False if all of them do. */
static bool judge_find_caller(struct judge *judge, const struct stack *stack,
			      struct frame_view *ret_view)
{
	uint32_t i;

	for (i = 0; i < stack->count; i++) {
		const struct frame *frame = &stack->frames[i];
		struct frame_walk walk;

		if (frame->internal || frame->kind == FRAME_ERROR || judge_wraps(judge, frame))
			continue;
		for (walk = frame_walk_begin(frame, judge->names);
		     frame_walk_next(&walk, ret_view);)
			if (!judge_hides(judge, ret_view) && !judge_folds(judge, ret_view))
				return true;
	}
	return false;
}

bool judge_find_place(struct judge *judge, const struct snapshot_site *site,
		      struct app_line *ret_line)
{
	struct app_line line = { .program = judge_target(judge, site->target)->program };
	const struct module *module;

	if (judge_find_line(judge, site, ret_line))
		return true;
	if (!judge_find_caller(judge, site->stack, &line.view) || !line.view.function)
		return false;
	module = module_list_get(judge->snapshot->modules, line.view.frame->module);
	line.path = strings_keep(&judge->texts, line.view.file ? line.view.file
						: module       ? module->path
							       : "");
	if (!line.view.line)
		line.function = strings_keep(&judge->texts, line.view.function);
	*ret_line = line;
	return true;
}

bool judge_find_leaf(struct judge *judge, const struct stack *stack, struct frame_view *ret_leaf)
{
	uint32_t i;

	for (i = 0; i < stack->count; i++) {
		const struct frame *frame = &stack->frames[i];
		struct frame_walk walk;

		if (frame->internal || frame->kind == FRAME_ERROR)
			continue;
		for (walk = frame_walk_begin(frame, judge->names);
		     frame_walk_next(&walk, ret_leaf);)
			if (!judge_hides(judge, ret_leaf) &&
			    !judge_fits(judge, &judge->folds, ret_leaf))
				return true;
	}
	return false;
}
