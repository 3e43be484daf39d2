/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See group.h. Sites are sorted by what they have in common; each run of equal ones becomes a site. */
#include "analyze/group.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

/* Instead of the function of a group whose sites have several. */
static const struct function_name several_functions;

/* A site and what it is grouped by. */
struct member {
	const struct snapshot_site *site;
	bool alone; /* it is in no group */
	struct frame frame; /* what the group shows as its stack, unless it is by process */
	const char *function; /* by function only; NULL = unknown */
	uint64_t shown; /* by what is shown only: hash of the frames */
};

/* The innermost frame of a kind that has a line: functions of an interpreter's that are written in C have none. */
static const struct frame *group_line(const struct snapshot_site *site, enum frame_kind kind)
{
	uint32_t i;

	for (i = 0; i < site->stack->count; i++) {
		const struct frame *frame = &site->stack->frames[i];

		if (frame->kind == kind && frame->name && frame->name->file)
			return frame;
	}
	return NULL;
}

/* The caller of the allocator; in an interpreter, the line that runs. */
static const struct frame *group_caller(const struct snapshot_site *site)
{
	uint32_t i;

	for (i = 0; i < site->stack->count; i++)
		if (!site->stack->frames[i].internal && site->stack->frames[i].kind != FRAME_ERROR)
			return &site->stack->frames[i];
	return NULL;
}

/* What distinguishes a frame, as far as it is shown. Equal names have one address (name_pool.h). */
static void group_frame_key(const struct frame *frame, uint64_t key[5])
{
	memset(key, 0, 5 * sizeof(*key));
	key[0] = frame->kind;
	key[1] = (uintptr_t)frame->reason;
	if (frame->name) {
		key[2] = (uintptr_t)frame->name->function;
		key[3] = (uintptr_t)frame->name->file;
		key[4] = frame->name->line;
	} else {
		key[2] = frame->module;
		key[3] = frame->offset ? frame->offset : frame->address;
	}
}

/* A walk over the frames of a stack that matter. */
struct shown {
	const struct stack *stack;
	uint32_t at;
	bool begun; /* one that is shown was met */
};

/*
 * The next frame that is shown, or that is an interpreter's own and has none inside of it that is shown: what it allocates for
 * itself is another matter than what it allocates for others. False at the end.
 */
static bool shown_next(struct shown *shown, uint64_t key[5])
{
	const struct stack *stack = shown->stack;

	while (shown->begun && shown->at < stack->count && stack->frames[shown->at].internal)
		shown->at++;
	if (shown->at >= stack->count)
		return false;
	if (!stack->frames[shown->at].internal)
		shown->begun = true;
	group_frame_key(&stack->frames[shown->at++], key);
	return true;
}

static uint64_t group_hash_shown(const struct stack *stack)
{
	struct shown shown = { .stack = stack };
	uint64_t hash = 1, key[5];
	size_t i;

	while (shown_next(&shown, key))
		for (i = 0; i < 5; i++)
			hash = hash_word(hash, key[i]);
	return hash | 1;
}

static int group_compare_shown(const struct stack *left, const struct stack *right)
{
	struct shown from_left = { .stack = left }, from_right = { .stack = right };
	uint64_t a[5], b[5];
	bool more_left, more_right;
	int order;

	for (;;) {
		more_left = shown_next(&from_left, a);
		more_right = shown_next(&from_right, b);
		if (!more_left || !more_right)
			return more_left - more_right;
		order = memcmp(a, b, sizeof(a));
		if (order)
			return order;
	}
}

static bool group_is_by_line(enum group_by by)
{
	return by > GROUP_BY_STACK && by < GROUP_BY_FUNCTION;
}

static void member_set_caller(struct member *member, const struct frame *caller, enum group_by by,
			      const struct report_names *names)
{
	const struct symbol_list *symbols = NULL;

	member->frame =
		(struct frame){ .kind = caller->kind, .module = caller->module, .whole = true };
	if (by == GROUP_BY_FUNCTION)
		symbols = names->lookup(names->context, caller);
	if (symbols && symbols->count)
		member->function = symbols->items[0].function;
}

static struct member member_of(const struct snapshot_site *site, enum group_by by,
			       const struct report_names *names)
{
	struct member member = { .site = site };
	const struct frame *frame = NULL;

	if (group_is_by_line(by))
		frame = group_line(site, (enum frame_kind)by);
	else if (by == GROUP_BY_FUNCTION || by == GROUP_BY_MODULE)
		frame = group_caller(site);
	if (frame && group_is_by_line(by))
		member.frame = *frame;
	else if (frame)
		member_set_caller(&member, frame, by, names);
	if (by == GROUP_BY_SHOWN)
		member.shown = group_hash_shown(site->stack);
	member.alone = by == GROUP_BY_STACK ||
		       (!frame && by != GROUP_BY_PROCESS && by != GROUP_BY_SHOWN);
	return member;
}

static int group_compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int group_compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

/* Order by the line, the module and function, or nothing. */
static int group_compare_frames(const struct member *left, const struct member *right)
{
	const struct frame *a = &left->frame, *b = &right->frame;
	int order = group_compare_numbers(a->module, b->module);

	if (!order)
		order = group_compare_numbers(a->kind, b->kind);
	if (!order)
		order = group_compare_texts(left->function, right->function);
	if (order || !a->name || !b->name)
		return order;
	order = group_compare_numbers((uintptr_t)left->site->function,
				      (uintptr_t)right->site->function);
	if (!order)
		order = group_compare_numbers(a->name->line, b->name->line);
	return order ? order : group_compare_texts(a->name->file, b->name->file);
}

/* Order by what must be equal in a group; sites that stay alone by their keys. */
static int group_compare(const void *a, const void *b)
{
	const struct member *left = a, *right = b;
	const struct snapshot_site *x = left->site, *y = right->site;
	int order = left->alone - right->alone;

	if (!order && left->alone)
		return group_compare_numbers(x->key, y->key);
	if (!order)
		order = group_compare_numbers((uintptr_t)x->target, (uintptr_t)y->target);
	if (!order)
		order = group_compare_numbers(x->ended, y->ended);
	if (!order)
		order = group_compare_numbers(x->source, y->source);
	if (!order)
		order = left->site->sampled - right->site->sampled;
	if (order || (!left->shown && !right->shown))
		return order ? order : group_compare_frames(left, right);
	order = group_compare_numbers((uintptr_t)x->function, (uintptr_t)y->function);
	if (!order)
		order = group_compare_numbers(left->shown, right->shown);
	return order ? order : group_compare_shown(x->stack, y->stack);
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

static struct stack *group_stack(struct grouped *grouped, const struct member *member)
{
	struct stack *stack = memory_alloc(1, sizeof(*stack) + sizeof(stack->frames[0]));
	struct frame_name *name;

	grouped->stacks = memory_grow(grouped->stacks, grouped->stack_count,
				      &grouped->stack_capacity, sizeof(struct stack *));
	grouped->stacks[grouped->stack_count++] = stack;
	stack->frames[0] = member->frame;
	stack->count = member->frame.whole || member->frame.name;
	if (!member->function)
		return stack;
	name = memory_alloc(1, sizeof(*name));
	name->function = member->function;
	stack->frames[0].name = name;
	grouped->names = memory_grow(grouped->names, grouped->name_count, &grouped->name_capacity,
				     sizeof(struct frame_name *));
	grouped->names[grouped->name_count++] = name;
	return stack;
}

static void group_put(struct grouped *grouped, const struct member *members, size_t count,
		      enum group_by by)
{
	struct snapshot *snapshot = &grouped->snapshot;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct member *member = &members[i];
		struct snapshot_site *to;

		if (i && !member->alone && !group_compare(member, &members[i - 1])) {
			group_add(&snapshot->sites[snapshot->site_count - 1], member->site);
			continue;
		}
		to = &snapshot->sites[snapshot->site_count++];
		*to = *member->site;
		if (by == GROUP_BY_SHOWN)
			continue;
		if (!member->alone)
			to->stack = group_stack(grouped, member);
		if (!member->alone && !to->stack->count)
			to->function = &several_functions;
	}
}

struct grouped *group_build(const struct snapshot *snapshot, enum group_by by,
			    const struct report_names *names)
{
	struct member *members = memory_alloc(snapshot->site_count, sizeof(*members));
	struct grouped *grouped = memory_alloc(1, sizeof(*grouped));
	size_t i;

	for (i = 0; i < snapshot->site_count; i++)
		members[i] = member_of(&snapshot->sites[i], by, names);
	qsort(members, snapshot->site_count, sizeof(*members), group_compare);
	grouped->snapshot = *snapshot;
	grouped->snapshot.sites = memory_alloc(snapshot->site_count, sizeof(*snapshot->sites));
	grouped->snapshot.site_count = 0;
	group_put(grouped, members, snapshot->site_count, by);
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
	free(grouped->snapshot.sites);
	free(grouped);
}
