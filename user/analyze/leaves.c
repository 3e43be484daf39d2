/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See leaves.h. Members are sorted by their leaves; each run of equal ones becomes a leaf of the row. */
#include "analyze/leaves.h"

#include <stdlib.h>

#include "analyze/report_frames.h"
#include "analyze/weight.h"
#include "base/compare.h"
#include "base/memory.h"

/* Of one line of a file, function and module make no difference. */
static int leaf_compare_places(const struct report_frame *a, const struct report_frame *b)
{
	int order = compare_numbers(a->kind, b->kind);

	if (!order)
		order = compare_texts(a->file, b->file);
	if (!order)
		order = compare_numbers(a->line, b->line);
	if (order || a->line)
		return order;
	order = compare_texts(a->module, b->module);
	return order ? order : compare_texts(a->function, b->function);
}

static int leaf_compare(const void *a, const void *b)
{
	return leaf_compare_places(&((const struct report_leaf *)a)->frame,
				   &((const struct report_leaf *)b)->frame);
}

static int leaf_compare_weights(const void *a, const void *b)
{
	const struct report_leaf *left = a, *right = b;
	int order = compare_numbers(right->weight, left->weight);

	return order ? order : leaf_compare_places(&left->frame, &right->frame);
}

/* False if the member has no leaf beside its line, or nothing that counts. */
static bool leaf_of_member(const struct snapshot_site *member, const struct module_list *modules,
			   const struct report_options *options, struct report_leaf *ret_leaf)
{
	const struct site_stats stats = weight_counted(member, options);
	struct report_leaf leaf = { .weight = weight_of(&stats, options->sort) };
	struct frame_view view;
	struct app_line line;

	if (!leaf.weight || !judge_find_leaf(options->judge, member->stack, &view) ||
	    !judge_find_place(options->judge, member, &line) || frame_view_is(&view, &line.view))
		return false;
	leaf.inuse_bytes = site_stats_inuse_bytes(&stats);
	leaf.inuse_objects = site_stats_inuse_objects(&stats);
	leaf.frame = report_frame_of(modules, &view);
	leaf.frame.whole = true;
	*ret_leaf = leaf;
	return true;
}

/* Make one of those that are equal. Returns how many are left. */
static size_t leaves_unite(struct report_leaf *leaves, size_t count)
{
	size_t united = 0, i;

	qsort(leaves, count, sizeof(*leaves), leaf_compare);
	for (i = 0; i < count; i++) {
		struct report_leaf *last = &leaves[united ? united - 1 : 0];

		if (!united || leaf_compare(last, &leaves[i])) {
			leaves[united++] = leaves[i];
			continue;
		}
		last->inuse_bytes += leaves[i].inuse_bytes;
		last->inuse_objects += leaves[i].inuse_objects;
		last->weight += leaves[i].weight;
		report_frame_clear(&leaves[i].frame);
	}
	return united;
}

void leaves_fill(struct report_site *to, const struct snapshot_site *site,
		 const struct module_list *modules, const struct report_options *options)
{
	struct report_leaf *leaves = memory_alloc(site->member_count, sizeof(*leaves));
	size_t count = 0, i;

	for (i = 0; i < site->member_count; i++)
		count += leaf_of_member(&site->members[i], modules, options, &leaves[count]);
	count = leaves_unite(leaves, count);
	qsort(leaves, count, sizeof(*leaves), leaf_compare_weights);
	for (i = REPORT_LEAVES_MAX; i < count; i++)
		report_frame_clear(&leaves[i].frame);
	to->leaves = leaves;
	to->leaf_count = count < REPORT_LEAVES_MAX ? count : REPORT_LEAVES_MAX;
	to->leaves_more = count - to->leaf_count;
}

void leaves_free(struct report_site *site)
{
	size_t i;

	for (i = 0; i < site->leaf_count; i++)
		report_frame_clear(&site->leaves[i].frame);
	free(site->leaves);
}
