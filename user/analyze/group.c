/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See group.h. Sites are sorted by what they have in common; each run of equal ones becomes a site. */
#include "analyze/group.h"

#include <stdlib.h>

#include "analyze/region_judge.h"
#include "analyze/shown.h"
#include "base/compare.h"
#include "base/hash.h"
#include "base/memory.h"

/* Instead of the function of a group whose sites have several. */
static const struct function_name several_functions;

/* What a site is grouped by. */
enum member_mode {
	MEMBER_WHOLE, /* the process */
	MEMBER_FRAME, /* `frame` and `function` */
	MEMBER_LINE, /* `line` */
	MEMBER_REGION, /* what it is for */
	MEMBER_SHOWN, /* what is shown of its stack */
	MEMBER_ALONE, /* it is in no group */
};

struct member {
	const struct snapshot_site *site;
	enum member_mode mode;
	enum region region;
	/* By line, of a region or of a stack without one; NULL = processes stay apart. */
	const char *program;
	struct frame frame; /* what the group shows as its stack */
	const char *function; /* by function only; NULL = unknown */
	struct app_line line;
	struct shown_stack stack;
	uint64_t shown; /* its hash */
	struct judge *judge;
};

/* The first function of a frame that is not hidden. */
static bool group_take_view(struct judge *judge, const struct frame *frame,
			    struct frame_view *ret_view)
{
	struct frame_walk walk = frame_walk_begin(frame, judge_names(judge));

	while (frame_walk_next(&walk, ret_view))
		if (!judge_hides(judge, ret_view))
			return true;
	return false;
}

static bool group_is_hidden(struct judge *judge, const struct frame *frame)
{
	struct frame_view view;

	return judge_may_hide(judge) && frame->kind != FRAME_ERROR &&
	       !group_take_view(judge, frame, &view);
}

/* The innermost frame of a kind that has a line: functions of an interpreter's that are written in C have none. */
static const struct frame *group_line(const struct member *member, enum frame_kind kind)
{
	const struct stack *stack = member->site->stack;
	uint32_t i;

	for (i = 0; i < stack->count; i++) {
		const struct frame *frame = &stack->frames[i];

		if (frame->kind == kind && frame->name && frame->name->file &&
		    !group_is_hidden(member->judge, frame))
			return frame;
	}
	return NULL;
}

/* The caller of the allocator; in an interpreter, the line that runs. */
static const struct frame *group_caller(const struct member *member)
{
	const struct stack *stack = member->site->stack;
	uint32_t i;

	for (i = 0; i < stack->count; i++)
		if (!stack->frames[i].internal && stack->frames[i].kind != FRAME_ERROR &&
		    !group_is_hidden(member->judge, &stack->frames[i]))
			return &stack->frames[i];
	return NULL;
}

static bool group_is_by_line(enum group_by by)
{
	return by > GROUP_BY_STACK && by < GROUP_BY_FUNCTION;
}

static void member_set_caller(struct member *member, const struct frame *caller, enum group_by by)
{
	struct frame_view view;

	member->frame =
		(struct frame){ .kind = caller->kind, .module = caller->module, .whole = true };
	if (by == GROUP_BY_FUNCTION && group_take_view(member->judge, caller, &view))
		member->function = view.function;
}

static void member_set_shown(struct member *member, bool all)
{
	member->mode = MEMBER_SHOWN;
	member->stack = (struct shown_stack){ member->site->stack, member->judge, all };
	member->shown = shown_hash(&member->stack);
}

/* In `any` code if there is no line of the application. */
static void member_set_line(struct member *member, bool any, bool all)
{
	const struct frame *frame;

	if (!(any ? judge_find_place : judge_find_line)(member->judge, member->site,
							&member->line)) {
		member_set_shown(member, all);
		member->program = judge_find_program(member->judge, member->site->target);
		return;
	}
	frame = member->line.view.frame;
	member->mode = MEMBER_LINE;
	member->frame =
		(struct frame){ .kind = frame->kind, .module = frame->module, .whole = true };
}

static void member_set_thread(struct member *member)
{
	const struct stack *stack = member->site->stack;
	const struct frame *last = stack->count ? &stack->frames[stack->count - 1] : NULL;

	member->mode = MEMBER_ALONE;
	if (!last || last->kind != FRAME_THREAD)
		return;
	member->mode = MEMBER_FRAME;
	member->frame =
		(struct frame){ .kind = FRAME_THREAD, .module = MODULE_NONE, .whole = true };
	member->function = last->name ? last->name->function : NULL;
}

static void member_set_frame(struct member *member, enum group_by by)
{
	const struct frame *frame = group_is_by_line(by) ? group_line(member, (enum frame_kind)by)
							 : group_caller(member);

	member->mode = frame ? MEMBER_FRAME : MEMBER_ALONE;
	if (frame && group_is_by_line(by))
		member->frame = *frame;
	else if (frame)
		member_set_caller(member, frame, by);
}

/* By line, processes of one program are added up. */
static void member_set_region(struct member *member, enum group_by by)
{
	const struct target *target = member->site->target;

	member->mode = MEMBER_REGION;
	if (by == GROUP_BY_APP_LINE || by == GROUP_BY_PLACE ||
	    (by == GROUP_BY_DEFAULT && judge_is_interpreted(member->judge, target)))
		member->program = judge_find_program(member->judge, target);
}

static void member_set(struct member *member, enum group_by by, bool all)
{
	member->region = region_of_site(member->site, judge_names(member->judge));
	if (!region_has_line(member->region) && by != GROUP_BY_STACK) {
		member_set_region(member, by);
		return;
	}
	switch (by) {
	case GROUP_BY_STACK:
		member->mode = MEMBER_ALONE;
		break;
	case GROUP_BY_PROCESS:
		member->mode = MEMBER_WHOLE;
		break;
	case GROUP_BY_APP_LINE:
	case GROUP_BY_PLACE:
		member_set_line(member, by == GROUP_BY_PLACE, all);
		break;
	case GROUP_BY_THREAD:
		member_set_thread(member);
		break;
	case GROUP_BY_SHOWN:
		member_set_shown(member, all);
		break;
	case GROUP_BY_DEFAULT:
		if (judge_is_interpreted(member->judge, member->site->target))
			member_set_line(member, false, all);
		else
			member_set_shown(member, all);
		break;
	default:
		member_set_frame(member, by);
	}
}

/* Order by the line, or the module and function. */
static int group_compare_frames(const struct member *left, const struct member *right)
{
	const struct frame *a = &left->frame, *b = &right->frame;
	int order = compare_numbers(a->module, b->module);

	if (!order)
		order = compare_numbers(a->kind, b->kind);
	if (!order)
		order = compare_texts(left->function, right->function);
	if (order || !a->name || !b->name)
		return order;
	order = compare_pointers(left->site->function, right->site->function);
	if (!order)
		order = compare_numbers(a->name->line, b->name->line);
	return order ? order : compare_texts(a->name->file, b->name->file);
}

/* Order by the line of the application. */
static int group_compare_lines(const struct app_line *a, const struct app_line *b)
{
	int order = compare_pointers(a->program, b->program);

	if (!order)
		order = compare_numbers(a->view.frame->kind, b->view.frame->kind);
	if (!order)
		order = compare_pointers(a->path, b->path);
	if (!order)
		order = compare_numbers(a->view.line, b->view.line);
	return order ? order : compare_pointers(a->function, b->function);
}

static int group_compare_stacks(const struct member *left, const struct member *right)
{
	int order = compare_pointers(left->site->function, right->site->function);

	if (!order)
		order = compare_numbers(left->shown, right->shown);
	return order ? order : shown_compare(&left->stack, &right->stack);
}

/* Order by what must be equal in every group. */
static int group_compare_kinds(const struct member *left, const struct member *right)
{
	const struct snapshot_site *x = left->site, *y = right->site;
	int order = compare_numbers(left->mode, right->mode);

	if (!order)
		order = compare_numbers(left->region, right->region);
	if (!order)
		order = compare_pointers(left->program, right->program);
	if (!order && left->mode != MEMBER_LINE && !left->program)
		order = compare_pointers(x->target, y->target);
	if (!order)
		order = compare_numbers(x->ended, y->ended);
	if (!order)
		order = compare_numbers(x->source, y->source);
	return order ? order : compare_numbers(x->sampled, y->sampled);
}

/* 0 = both are in one group. */
static int group_compare(const struct member *left, const struct member *right)
{
	int order = group_compare_kinds(left, right);

	if (order)
		return order;
	switch (left->mode) {
	case MEMBER_FRAME:
		return group_compare_frames(left, right);
	case MEMBER_LINE:
		return group_compare_lines(&left->line, &right->line);
	case MEMBER_SHOWN:
		return group_compare_stacks(left, right);
	case MEMBER_ALONE:
		return compare_numbers(left->site->key, right->site->key);
	default:
		return 0;
	}
}

/* Within a group by process, then in an order that is the same in the next snapshot. */
static int group_compare_members(const void *a, const void *b)
{
	const struct member *left = a, *right = b;
	int order = group_compare(left, right);

	if (!order)
		order = compare_numbers((uint64_t)left->site->target->pid,
					(uint64_t)right->site->target->pid);
	if (!order)
		order = compare_pointers(left->site->target, right->site->target);
	return order ? order : compare_numbers(left->site->key, right->site->key);
}

static uint64_t group_mix_function(uint64_t hash, const struct function_name *function)
{
	return shown_mix_text(shown_mix_text(hash, function->allocator), function->function);
}

/* What all members have in common, by content: where texts are kept may change. */
static uint64_t group_mix_kinds(uint64_t hash, const struct member *member)
{
	const struct snapshot_site *site = member->site;
	const bool apart = member->mode != MEMBER_LINE && !member->program;

	hash = hash_word(hash, member->mode);
	hash = hash_word(hash, member->region);
	hash = shown_mix_text(hash, member->program);
	if (apart)
		hash = hash_word(hash, (uint64_t)site->target->pid);
	if (apart && site->ended)
		hash = hash_word(hash, site->target->exec_ns);
	hash = hash_word(hash, site->ended);
	hash = hash_word(hash, site->source);
	return hash_word(hash, site->sampled);
}

static uint64_t group_mix_frame(uint64_t hash, const struct member *member,
				const struct module_list *modules)
{
	const struct frame *frame = &member->frame;

	hash = hash_word(hash, frame->kind);
	hash = shown_mix_module(hash, modules, frame->module);
	hash = shown_mix_text(hash, member->function);
	if (!frame->name)
		return hash;
	hash = group_mix_function(hash, member->site->function);
	hash = shown_mix_text(hash, frame->name->file);
	return hash_word(hash, frame->name->line);
}

static uint64_t group_mix_line(uint64_t hash, const struct app_line *line)
{
	hash = shown_mix_text(hash, line->program);
	hash = shown_mix_text(hash, line->path);
	hash = shown_mix_text(hash, line->function);
	hash = hash_word(hash, line->view.frame->kind);
	return hash_word(hash, line->view.line);
}

/* The id of the row of a member: of each of its members, in each snapshot, the same. */
static uint64_t group_id(const struct grouped *grouped, const struct member *member)
{
	const struct snapshot *snapshot = &grouped->snapshot;
	uint64_t hash = group_mix_kinds(snapshot->id_seed, member);

	switch (member->mode) {
	case MEMBER_FRAME:
		return group_mix_frame(hash, member, snapshot->modules);
	case MEMBER_LINE:
		return group_mix_line(hash, &member->line);
	case MEMBER_SHOWN:
		hash = group_mix_function(hash, member->site->function);
		return shown_id(&member->stack, snapshot->modules, hash);
	case MEMBER_ALONE:
		return hash_word(hash, member->site->key);
	default:
		return hash;
	}
}

static void group_add(struct snapshot_site *to, const struct snapshot_site *site)
{
	site_stats_add(&to->stats, &site->stats);
	if (to->function != site->function)
		to->function = &several_functions;
	/* The least key of a group is the same in the next snapshot, whatever order the sites come in. */
	if (site->key < to->key)
		to->key = site->key;
}

static void group_name_frame(struct grouped *grouped, struct frame *frame,
			     const struct frame_name *name)
{
	struct frame_name *copy = memory_alloc(1, sizeof(*copy));

	*copy = *name;
	frame->name = copy;
	grouped->names = memory_grow(grouped->names, grouped->name_count, &grouped->name_capacity,
				     sizeof(struct frame_name *));
	grouped->names[grouped->name_count++] = copy;
}

static struct stack *group_stack(struct grouped *grouped, const struct member *member)
{
	struct stack *stack = memory_alloc(1, sizeof(*stack) + sizeof(stack->frames[0]));
	const struct frame_view *view = &member->line.view;
	const struct frame_name line = { view->function, view->file, view->line };
	const struct frame_name function = { .function = member->function };

	grouped->stacks = memory_grow(grouped->stacks, grouped->stack_count,
				      &grouped->stack_capacity, sizeof(struct stack *));
	grouped->stacks[grouped->stack_count++] = stack;
	stack->frames[0] = member->frame;
	stack->count = member->frame.whole || member->frame.name;
	if (member->mode == MEMBER_LINE && view->identity)
		group_name_frame(grouped, &stack->frames[0], &line);
	else if (member->function)
		group_name_frame(grouped, &stack->frames[0], &function);
	return stack;
}

/* By process, thread, module or function, there are blocks of several places in a row. */
static bool group_is_mixed(const struct member *member)
{
	return member->mode == MEMBER_WHOLE ||
	       (member->mode == MEMBER_FRAME && member->frame.whole);
}

/* A row that begins with a member. */
static void group_begin(struct grouped *grouped, struct snapshot_site *to,
			const struct member *member)
{
	*to = *member->site;
	to->id = group_id(grouped, member);
	to->by_line = member->mode == MEMBER_LINE;
	to->mixed = group_is_mixed(member);
	to->region = member->region;
	if (member->mode == MEMBER_ALONE || member->mode == MEMBER_SHOWN)
		return;
	to->stack = group_stack(grouped, member);
	if (!to->stack->count && member->mode != MEMBER_REGION)
		to->function = &several_functions;
}

static void group_put(struct grouped *grouped, const struct member *members, size_t count)
{
	struct snapshot *snapshot = &grouped->snapshot;
	struct snapshot_site *to = NULL;
	size_t i;

	for (i = 0; i < count; i++) {
		grouped->members[i] = *members[i].site;
		grouped->members[i].region = members[i].region;
		if (to && !group_compare(&members[i], &members[i - 1])) {
			group_add(to, members[i].site);
		} else {
			to = &snapshot->sites[snapshot->site_count++];
			group_begin(grouped, to, &members[i]);
			to->members = &grouped->members[i];
		}
		to->member_count++;
	}
}

/* Put the sites that --only leaves out into `left_out`, and the others into `members`. Returns how many these are. */
static size_t group_choose(const struct snapshot *snapshot, struct judge *judge,
			   struct member *members, struct snapshot *left_out)
{
	size_t count = 0, i;

	for (i = 0; i < snapshot->site_count; i++) {
		const struct snapshot_site *site = &snapshot->sites[i];

		if (judge_wants(judge, site->stack)) {
			members[count++] = (struct member){ .site = site, .judge = judge };
			continue;
		}
		left_out->sites[left_out->site_count] = *site;
		left_out->sites[left_out->site_count++].left_out = true;
	}
	return count;
}

struct grouped *group_build(const struct snapshot *snapshot, enum group_by by, bool all,
			    struct judge *judge)
{
	struct member *members = memory_alloc(snapshot->site_count, sizeof(*members));
	struct grouped *grouped = memory_alloc(1, sizeof(*grouped));
	size_t count, i;

	grouped->snapshot = *snapshot;
	grouped->snapshot.sites = memory_alloc(snapshot->site_count, sizeof(*snapshot->sites));
	grouped->snapshot.site_count = 0;
	grouped->members = memory_alloc(snapshot->site_count, sizeof(*grouped->members));
	count = group_choose(snapshot, judge, members, &grouped->snapshot);
	for (i = 0; i < count; i++)
		member_set(&members[i], by, all);
	qsort(members, count, sizeof(*members), group_compare_members);
	group_put(grouped, members, count);
	free(members);
	return grouped;
}

void group_free(struct grouped *grouped)
{
	size_t i;

	if (!grouped)
		return;
	for (i = 0; i < grouped->stack_count; i++)
		free(grouped->stacks[i]);
	for (i = 0; i < grouped->name_count; i++)
		free(grouped->names[i]);
	free(grouped->names);
	free(grouped->stacks);
	free(grouped->members);
	free(grouped->snapshot.sites);
	free(grouped);
}
