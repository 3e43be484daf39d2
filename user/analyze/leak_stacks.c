/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See leak_stacks.h. */
#include "analyze/leak_stacks.h"

#include <string.h>

#include "analyze/report_frames.h"
#include "analyze/shown.h"
#include "base/hash.h"
#include "base/table.h"

struct leak_stacks {
	struct leak_report *report;
	const struct snapshot *snapshot;
	struct report_options options;
	const struct report_names *names;
	struct table sites; /* key -> snapshot_site */
	uint64_t seed;
};

static void stacks_index(struct leak_stacks *stacks)
{
	size_t i;

	for (i = 0; i < stacks->snapshot->site_count; i++) {
		struct snapshot_site *site = &stacks->snapshot->sites[i];

		table_put(&stacks->sites, site->key, site);
	}
}

static const struct snapshot_site *stacks_find(const struct leak_stacks *stacks,
					       const struct leak_group *group)
{
	return group->site ? table_get(&stacks->sites, group->site) : NULL;
}

/* All names at once: their files are read one after the other otherwise. */
static void stacks_ask(const struct leak_stacks *stacks)
{
	size_t i;

	for (i = 0; i < stacks->report->group_count; i++) {
		const struct snapshot_site *site = stacks_find(stacks, &stacks->report->groups[i]);

		if (site)
			report_frames_ask(site->stack, &stacks->options, stacks->names);
	}
}

static void stacks_name(const struct leak_stacks *stacks, struct leak_group *group)
{
	const struct snapshot_site *site = stacks_find(stacks, group);
	struct frame_list frames = { 0 };

	leak_group_clear(group);
	if (!site) {
		group->site = 0;
		return;
	}
	report_frames_add(&frames, stacks->snapshot->modules, site->stack, &stacks->options,
			  stacks->names);
	group->function = site->function ? site->function->function : NULL;
	group->frames = frames.items;
	group->frame_count = frames.count;
}

/* Of a frame that has a name the place within its line makes no difference. */
static bool frame_has_place(const struct report_frame *frame)
{
	return !frame->function || !frame->line;
}

static uint64_t frame_hash(uint64_t hash, const struct report_frame *frame)
{
	hash = hash_word(hash, (uint64_t)frame->kind << 32 | frame->line);
	hash = shown_mix_text(hash, frame->function);
	hash = shown_mix_text(hash, frame->file);
	hash = shown_mix_text(hash, frame->module);
	return hash_word(hash, frame_has_place(frame) ? frame->offset : 0);
}

static bool text_is_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool frame_is_same(const struct report_frame *a, const struct report_frame *b)
{
	return a->kind == b->kind && a->line == b->line && a->inlined == b->inlined &&
	       text_is_same(a->function, b->function) && text_is_same(a->file, b->file) &&
	       text_is_same(a->module, b->module) &&
	       (!frame_has_place(a) || a->offset == b->offset);
}

static uint64_t group_hash(const struct leak_stacks *stacks, const struct leak_group *group)
{
	uint64_t hash = hash_word(stacks->seed, (uint64_t)group->verdict);
	size_t i;

	hash = shown_mix_text(shown_mix_text(hash, group->function), group->note);
	for (i = 0; i < group->frame_count; i++)
		hash = frame_hash(hash, &group->frames[i]);
	return hash;
}

static bool group_is_same(const struct leak_group *a, const struct leak_group *b)
{
	size_t i;

	if (!a->site || !b->site || a->verdict != b->verdict || a->frame_count != b->frame_count ||
	    !text_is_same(a->function, b->function) || !text_is_same(a->note, b->note))
		return false;
	for (i = 0; i < a->frame_count; i++)
		if (!frame_is_same(&a->frames[i], &b->frames[i]))
			return false;
	return true;
}

static void group_add(struct leak_group *to, struct leak_group *more)
{
	size_t i;

	leak_sum_add(&to->own, &more->own);
	leak_sum_add(&to->indirect, &more->indirect);
	for (i = 0; i < LEAK_BEFORES; i++)
		leak_sum_add(&to->before[i], &more->before[i]);
	if (to->size != more->size)
		to->size = 0;
	if (strcmp(to->kind, more->kind) != 0 || strcmp(to->name, more->name) != 0)
		to->kind = to->name = "";
	leak_group_clear(more);
}

static void stacks_unite(struct leak_stacks *stacks)
{
	struct leak_report *report = stacks->report;
	struct table by_hash = { 0 };
	size_t i, count = 0;

	for (i = 0; i < report->group_count; i++) {
		struct leak_group *group = &report->groups[i], *before;
		uint64_t hash = group_hash(stacks, group);
		uintptr_t at = (uintptr_t)table_get(&by_hash, hash);

		before = at ? &report->groups[at - 1] : NULL;
		if (before && group_is_same(before, group)) {
			group_add(before, group);
			continue;
		}
		report->groups[count++] = *group;
		if (group->site)
			table_put(&by_hash, hash, (void *)(uintptr_t)count);
	}
	report->group_count = count;
	table_free(&by_hash);
	leak_report_sort(report);
}

void leak_stacks_fill(struct leak_report *report, const struct snapshot *snapshot, bool all,
		      const struct report_names *names)
{
	struct leak_stacks stacks = { .report = report,
				      .snapshot = snapshot,
				      .options.internal = all,
				      .names = names,
				      .seed = snapshot->id_seed };
	size_t i;

	stacks_index(&stacks);
	stacks_ask(&stacks);
	for (i = 0; i < report->group_count; i++)
		stacks_name(&stacks, &report->groups[i]);
	stacks_unite(&stacks);
	table_free(&stacks.sites);
}
