/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See group.h. Sites are sorted by what they have in common; each run of equal ones becomes a site. */
#include "analyze/group.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A site and the frame that it is grouped by; NULL = it stays alone. */
struct member {
	const struct snapshot_site *site;
	const struct frame *frame;
};

static const struct frame *group_frame(const struct snapshot_site *site, enum frame_kind kind)
{
	uint32_t i;

	for (i = 0; i < site->stack->count; i++)
		if (site->stack->frames[i].kind == kind && site->stack->frames[i].name)
			return &site->stack->frames[i];
	return NULL;
}

static int group_compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int group_compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

/* Order by what must be equal in a group; sites that stay alone by their keys. */
static int group_compare(const void *a, const void *b)
{
	const struct member *left = a, *right = b;
	const struct snapshot_site *x = left->site, *y = right->site;
	int order = !left->frame - !right->frame;

	if (!order && !left->frame)
		return group_compare_numbers(x->key, y->key);
	if (!order)
		order = group_compare_numbers((uintptr_t)x->target, (uintptr_t)y->target);
	if (!order)
		order = group_compare_numbers((uintptr_t)x->function, (uintptr_t)y->function);
	if (!order)
		order = group_compare_numbers(x->source, y->source);
	if (!order)
		order = group_compare_numbers(left->frame->name->line, right->frame->name->line);
	if (!order)
		order = group_compare_texts(left->frame->name->file, right->frame->name->file);
	return order;
}

static void group_add(struct snapshot_site *to, const struct snapshot_site *site)
{
	to->counters.alloc_bytes += site->counters.alloc_bytes;
	to->counters.alloc_objects += site->counters.alloc_objects;
	to->counters.free_bytes += site->counters.free_bytes;
	to->counters.free_objects += site->counters.free_objects;
	to->age_sum_ns += site->age_sum_ns;
	to->young_bytes += site->young_bytes;
	to->young_objects += site->young_objects;
	if (site->oldest_ns > to->oldest_ns)
		to->oldest_ns = site->oldest_ns;
	/* The least key of a group is the same in the next snapshot, whatever order the sites come in. */
	if (site->key < to->key)
		to->key = site->key;
}

static struct stack *group_stack(struct grouped *grouped, const struct frame *frame)
{
	struct stack *stack = memory_alloc(1, sizeof(*stack) + sizeof(stack->frames[0]));

	stack->count = 1;
	stack->frames[0] = *frame;
	grouped->stacks = memory_grow(grouped->stacks, grouped->stack_count,
				      &grouped->stack_capacity, sizeof(struct stack *));
	grouped->stacks[grouped->stack_count++] = stack;
	return stack;
}

static void group_put(struct grouped *grouped, const struct member *members, size_t count)
{
	struct snapshot *snapshot = &grouped->snapshot;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct member *member = &members[i];
		struct snapshot_site *to;

		if (i && member->frame && !group_compare(member, &members[i - 1])) {
			group_add(&snapshot->sites[snapshot->site_count - 1], member->site);
			continue;
		}
		to = &snapshot->sites[snapshot->site_count++];
		*to = *member->site;
		if (member->frame)
			to->stack = group_stack(grouped, member->frame);
	}
}

struct grouped *group_build(const struct snapshot *snapshot, enum group_by by)
{
	enum frame_kind kind = by == GROUP_BY_RUBY_LINE ? FRAME_RUBY : FRAME_PYTHON;
	struct member *members = memory_alloc(snapshot->site_count, sizeof(*members));
	struct grouped *grouped = memory_alloc(1, sizeof(*grouped));
	size_t i;

	for (i = 0; i < snapshot->site_count; i++)
		members[i] = (struct member){
			.site = &snapshot->sites[i],
			.frame = by == GROUP_BY_STACK ? NULL
						      : group_frame(&snapshot->sites[i], kind)
		};
	qsort(members, snapshot->site_count, sizeof(*members), group_compare);
	grouped->snapshot = *snapshot;
	grouped->snapshot.sites = memory_alloc(snapshot->site_count, sizeof(*snapshot->sites));
	grouped->snapshot.site_count = 0;
	group_put(grouped, members, snapshot->site_count);
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
	free(grouped->stacks);
	free(grouped->snapshot.sites);
	free(grouped);
}
