/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See leaks_groups.h. Kinds are those of `tracer memory`: what blocks are by how they begin. Who allocated a block counts more. */
#include "memory/leaks_groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/table.h"
#include "kinds/kind.h"
#include "kinds/kind_names.h"
#include "image/window.h"
#include "memory/memory_names.h"
#include "reach/reach_code.h"

#define GROUPS_LOOKED (1u << 20) /* blocks whose kind is looked at; more are of no kind */
#define GROUPS_WINDOW (256u << 10)
#define GROUPS_BYTES 256 /* of a block, that show what it is */

struct groups {
	const struct leaks_wanted *wanted;
	const struct reach_candidates *candidates;
	struct leak_report *report;
	struct table by_key; /* position + 1 of a group */
	struct table by_leader; /* address -> the same */
};

static uint64_t groups_find_site(const struct groups *groups, const struct reach_candidate *item)
{
	const struct leaks_wanted *wanted = groups->wanted;

	return wanted->find_site ? wanted->find_site(wanted->context, item->address, item->size)
				 : 0;
}

/* What blocks of a group have in common. */
static uint64_t groups_key(const struct reach_candidate *item, const struct leak_group *like)
{
	uint64_t hash = hash_word(HASH_BEGIN, like->site);

	if (!like->site) {
		hash = hash_word(hash, (uintptr_t)like->kind);
		hash = hash_word(hash_word(hash, (uintptr_t)like->name), item->size);
	}
	return hash_word(hash_word(hash, item->verdict), item->encoded);
}

static struct leak_group *groups_new(struct groups *groups, const struct reach_candidate *item,
				     const struct leak_group *like)
{
	struct leak_group *group = leak_report_add_group(groups->report);

	group->verdict = item->verdict;
	group->kind = like->kind;
	group->name = like->name;
	group->site = like->site;
	group->size = item->size;
	group->address = item->address;
	group->note = reach_code_text(item->encoded);
	return group;
}

/* A site may have blocks of several kinds and sizes. */
static void groups_unite(struct leak_group *group, const struct reach_candidate *item,
			 const struct leak_group *like)
{
	if (group->size != item->size)
		group->size = 0;
	if (group->kind == like->kind && group->name == like->name)
		return;
	group->kind = "";
	group->name = NULL;
}

/* The group of a block. */
static struct leak_group *groups_get(struct groups *groups, const struct reach_candidate *item,
				     const struct leak_group *like)
{
	uint64_t key = groups_key(item, like);
	uintptr_t at = (uintptr_t)table_get(&groups->by_key, key);

	if (!at) {
		groups_new(groups, item, like);
		at = groups->report->group_count;
		table_put(&groups->by_key, key, (void *)at);
	}
	table_put(&groups->by_leader, item->address, (void *)at);
	groups_unite(&groups->report->groups[at - 1], item, like);
	return &groups->report->groups[at - 1];
}

static void groups_add_before(const struct groups *groups, struct leak_group *group,
			      const struct reach_candidate *item)
{
	if (groups->report->has_before)
		leak_sum_add(&group->before[item->before], &(struct leak_sum){ 1, item->size });
}

static void groups_add(void *context, uint64_t address, const char *kind, const char *name)
{
	struct groups *groups = context;
	const struct reach_candidate *item = reach_candidates_find(groups->candidates, address);
	struct leak_group like = { .kind = kind, .name = name }, *group;

	if (!item)
		return;
	like.site = groups_find_site(groups, item);
	group = groups_get(groups, item, &like);
	group->own.blocks++;
	group->own.bytes += item->size;
	groups_add_before(groups, group, item);
}

static void groups_add_indirect(struct groups *groups)
{
	struct leak_group *group;
	size_t i;

	for (i = 0; i < groups->candidates->count; i++) {
		const struct reach_candidate *item = &groups->candidates->items[i];
		uintptr_t at;

		if (item->verdict != LEAK_INDIRECT)
			continue;
		at = (uintptr_t)table_get(&groups->by_leader, item->leader);
		if (!at)
			continue;
		group = &groups->report->groups[at - 1];
		group->indirect.blocks++;
		group->indirect.bytes += item->size;
		groups_add_before(groups, group, item);
	}
}

/* What the blocks are by how they begin. */
static void groups_look(const struct leaks_pass *pass, const struct reach_candidates *candidates,
			struct kind_census *kinds, struct groups *groups)
{
	const struct census_sink sink = kind_census_sink(kinds);
	struct window window;
	size_t i, looked = 0;

	window_open(&window, pass->image, GROUPS_WINDOW);
	for (i = 0; i < candidates->count; i++) {
		const struct reach_candidate *item = &candidates->items[i];
		struct census_block block = { .address = item->address, .size = item->size };
		size_t wanted = item->size < GROUPS_BYTES ? (size_t)item->size : GROUPS_BYTES;

		if (item->verdict == LEAK_INDIRECT)
			continue;
		if (looked++ >= GROUPS_LOOKED) {
			groups_add(groups, item->address, "not looked at", NULL);
			continue;
		}
		block.bytes = window_get_part(&window, item->address, wanted, &block.length);
		sink.block(sink.context, &block);
	}
	window_close(&window);
}

/* Marked texts become names that can be shown. */
static void groups_name(const struct leaks_pass *pass, struct leak_report *report)
{
	struct memory_report names_report = { 0 };
	struct memory_names reader = { pass->wanted->names, pass->image, &names_report };
	const struct kind_namer namer = memory_names_namer(&reader);
	struct kind_names names = { 0 };
	struct buffer text = { 0 };
	size_t i;

	for (i = 0; i < report->group_count; i++)
		kind_names_collect(&names, &pass->modules, report->groups[i].name);
	if (names.count && pass->wanted->names)
		namer.name(namer.context, &pass->modules, names.items, names.count);
	for (i = 0; i < report->group_count; i++) {
		struct leak_group *group = &report->groups[i];
		const char *kept;

		if (!group->name) {
			group->name = "";
			continue;
		}
		if (kind_names_is_class(&names, group->name))
			group->kind = "class";
		buffer_clear(&text);
		kind_names_expand(&names, group->name, &text);
		kept = strings_keep(&report->names, text.data);
		group->name = kept ? kept : "";
	}
	if (names_report.remarks.length)
		buffer_append(&report->remarks, names_report.remarks.data,
			      names_report.remarks.length);
	buffer_free(&text);
	kind_names_free(&names);
	memory_report_free(&names_report);
}

void leaks_groups_fill(const struct leaks_pass *pass, const struct reach_candidates *candidates,
		       struct leak_report *report)
{
	struct kind_census *kinds = kind_census_new(pass->image, &pass->modules);
	struct groups groups = { .wanted = pass->wanted,
				 .candidates = candidates,
				 .report = report };

	kind_census_keep(kinds, NULL);
	groups_look(pass, candidates, kinds, &groups);
	kind_census_list(kinds, groups_add, &groups);
	groups_add_indirect(&groups);
	groups_name(pass, report);
	leak_report_sort(report);
	table_free(&groups.by_key);
	table_free(&groups.by_leader);
	kind_census_free(kinds);
}
