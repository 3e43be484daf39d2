/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See leaks_who.h. Holders are words as they are now; the way is as the pass has gone it. */
#include "memory/leaks_who.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "kinds/kind.h"
#include "kinds/kind_names.h"
#include "memory/memory_names.h"
#include "reach/reach_code.h"
#include "reach/reach_holders.h"

#define WHO_WAY 32 /* links of a way that are listed from each of its ends */
#define WHO_BYTES 256 /* of a block, that show what it is */
#define WHO_LOOK (64u << 10) /* of a block, that are searched for its word at a time */

static size_t who_find(const struct leaks_pass *pass, const struct leak_who *who)
{
	return reach_holders_block(&pass->blocks, who->asked);
}

bool leaks_who_is_reached(const struct leaks_pass *pass, const struct leak_who *who)
{
	size_t target = who_find(pass, who);

	return target == SIZE_MAX || pass->graph.nodes[target].verdict == LEAK_REACHABLE;
}

/* Roots */

static pid_t who_thread(const struct leaks_pass *pass, uint64_t place)
{
	const struct image_mapping *mapping = image_find(pass->image, place);
	size_t i;

	for (i = 0; i < pass->threads.count; i++) {
		const struct thread_info *thread = &pass->threads.items[i];

		if ((place >= thread->stack_start && place < thread->stack_end) ||
		    (place >= thread->tls_start && place < thread->descriptor))
			return thread->tid;
	}
	return mapping && !strcmp(mapping->name, "[stack]") ? pass->image->own_pid : 0;
}

static const char *who_keep(struct leak_who *who, const char *text)
{
	const char *kept = strings_keep(&who->names, text);

	return kept ? kept : "";
}

static void who_name_root(const struct leaks_pass *pass, struct leak_who *who,
			  struct leak_link *link)
{
	const struct module_range *range = module_ranges_at(&pass->modules, link->place);
	const struct image_mapping *mapping = image_find(pass->image, link->place);
	struct buffer text = { 0 };

	link->tid = who_thread(pass, link->place);
	if (range) {
		kind_names_mark_place(&text, &pass->modules, range, link->place);
		link->name = who_keep(who, text.data);
	} else if (mapping && !link->tid) {
		link->name = who_keep(who, mapping->name);
	}
	buffer_free(&text);
}

static void who_add_root(const struct leaks_pass *pass, struct leak_who *who,
			 struct leak_links *links, const struct leak_link *like)
{
	struct leak_link *link = leak_who_add(links);

	*link = *like;
	link->kind = link->name = "";
	if (link->place)
		who_name_root(pass, who, link);
}

/* Holders */

static void who_add_registers(const struct leaks_pass *pass, struct leak_who *who)
{
	const uint64_t span = who->size ? who->size : 1;
	size_t i, n;

	for (i = 0; i < pass->registers.count; i++) {
		const struct thread_registers *thread = &pass->registers.items[i];

		for (n = 0; n < thread->count; n++) {
			struct leak_link link = { .root = LEAK_ROOT_REGISTER,
						  .tid = thread->tid,
						  .into = thread->words[n] - who->address };

			if (link.into >= span)
				continue;
			who_add_root(pass, who, &who->holders, &link);
			who->holder_count++;
		}
	}
}

static void who_add_holder(const struct leaks_pass *pass, struct leak_who *who,
			   const struct reach_holder *holder)
{
	struct leak_link link = { .place = holder->place,
				  .into = holder->word - who->address,
				  .root = holder->root };

	if (holder->source == SIZE_MAX) {
		who_add_root(pass, who, &who->holders, &link);
		return;
	}
	link.block = pass->blocks.items[holder->source].address;
	link.size = pass->blocks.items[holder->source].bytes;
	link.kind = link.name = "";
	*leak_who_add(&who->holders) = link;
}

static void who_add_holders(struct leaks_pass *pass, struct leak_who *who, size_t target,
			    struct leak_report *report)
{
	struct reach_holders holders = { 0 };
	size_t i;

	who_add_registers(pass, who);
	if (!reach_holders_find(&holders, &pass->roots, &pass->blocks, target))
		leak_report_remark(report, "There was no time to look for holders in all memory.");
	for (i = 0; i < holders.count; i++)
		if (holders.items[i].source == SIZE_MAX)
			who_add_holder(pass, who, &holders.items[i]);
	for (i = 0; i < holders.count; i++)
		if (holders.items[i].source != SIZE_MAX)
			who_add_holder(pass, who, &holders.items[i]);
	who->holder_count += holders.all;
	reach_holders_free(&holders);
}

/* The way */

/* The word of block `from` that leads to block `to`. */
static void who_find_word(const struct leaks_pass *pass, const struct reach_block *from,
			  const struct reach_block *to, struct leak_link *link)
{
	unsigned char *bytes = memory_alloc(1, WHO_LOOK);
	uint64_t at, word, span = to->bytes ? to->bytes : 1;
	size_t wanted, got, i;

	for (at = 0; at < from->bytes && !link->place; at += WHO_LOOK) {
		wanted = from->bytes - at < WHO_LOOK ? (size_t)(from->bytes - at) : WHO_LOOK;
		got = image_read_part(pass->image, from->address + at, bytes, wanted);
		for (i = 0; i + sizeof(word) <= got && !link->place; i += sizeof(word)) {
			memcpy(&word, bytes + i, sizeof(word));
			if (word - to->address >= span)
				continue;
			link->place = from->address + at + i;
			link->into = word - to->address;
		}
	}
	free(bytes);
}

static void who_add_step(const struct leaks_pass *pass, struct leak_who *who, uint32_t from,
			 uint32_t to)
{
	const struct reach_block *block = &pass->blocks.items[from];
	struct leak_link *link = leak_who_add(&who->way);

	link->block = block->address;
	link->size = block->bytes;
	who_find_word(pass, block, &pass->blocks.items[to], link);
}

static void who_add_first(const struct leaks_pass *pass, struct leak_who *who, uint32_t first)
{
	const struct reach_rooted *rooted = reach_graph_rooted(&pass->graph, first);
	struct leak_link link = { 0 };

	if (!rooted)
		return;
	link.root = rooted->holder_root;
	link.place = rooted->holder;
	if (link.place)
		link.into = image_word(pass->image, link.place) - pass->blocks.items[first].address;
	if (link.into >= pass->blocks.items[first].bytes)
		link.into = 0;
	who_add_root(pass, who, &who->way, &link);
}

static void who_add_way(const struct leaks_pass *pass, struct leak_who *who, size_t target)
{
	const struct reach_node *nodes = pass->graph.nodes;
	uint32_t *blocks = memory_alloc(pass->graph.count + 1, sizeof(*blocks)), at;
	size_t count = 0, i;

	for (at = (uint32_t)target; at != REACH_NOBODY && count < pass->graph.count;
	     at = nodes[at].parent)
		blocks[count++] = at;
	who_add_first(pass, who, blocks[count - 1]);
	for (i = count - 1; i; i--) {
		if (count > 2 * WHO_WAY && i < count - WHO_WAY && i > WHO_WAY)
			who->left_out++;
		else
			who_add_step(pass, who, blocks[i], blocks[i - 1]);
	}
	free(blocks);
}

/* What blocks are */

static void who_look(const struct leaks_pass *pass, const struct census_sink *sink,
		     uint64_t address, uint64_t size)
{
	unsigned char bytes[WHO_BYTES];
	struct census_block block = { .address = address, .size = size, .bytes = bytes };

	block.length = image_read_part(pass->image, address, bytes,
				       size < WHO_BYTES ? (size_t)size : WHO_BYTES);
	sink->block(sink->context, &block);
}

struct who_kind {
	const char *kind, *name;
};

static void who_take_kind(void *context, uint64_t address, const char *kind, const char *name)
{
	struct who_kind *item = memory_alloc(1, sizeof(*item));

	*item = (struct who_kind){ kind, name };
	table_put(context, address, item);
}

static void who_put_kinds(struct leak_who *who, const struct table *kinds, struct leak_links *links)
{
	const struct who_kind *found;
	size_t i;

	for (i = 0; i < links->count; i++) {
		struct leak_link *link = &links->items[i];

		found = link->block ? table_get(kinds, link->block) : NULL;
		if (!found)
			continue;
		link->kind = found->kind;
		link->name = found->name ? who_keep(who, found->name) : "";
	}
}

static void who_look_at_links(const struct leaks_pass *pass, const struct census_sink *sink,
			      const struct leak_links *links, struct table *seen)
{
	size_t i;

	for (i = 0; i < links->count; i++) {
		if (!links->items[i].block || table_get(seen, links->items[i].block))
			continue;
		table_put(seen, links->items[i].block, seen);
		who_look(pass, sink, links->items[i].block, links->items[i].size);
	}
}

static void who_find_kinds(struct leaks_pass *pass, struct leak_who *who)
{
	struct kind_census *census = kind_census_new(pass->image, &pass->modules);
	const struct census_sink sink = kind_census_sink(census);
	struct table seen = { 0 }, kinds = { 0 };
	const struct table_slot *slot;
	const struct who_kind *own;
	size_t cursor = 0;

	kind_census_keep(census, NULL);
	table_put(&seen, who->address, &seen);
	who_look(pass, &sink, who->address, who->size);
	who_look_at_links(pass, &sink, &who->holders, &seen);
	who_look_at_links(pass, &sink, &who->way, &seen);
	kind_census_list(census, who_take_kind, &kinds);
	who_put_kinds(who, &kinds, &who->holders);
	who_put_kinds(who, &kinds, &who->way);
	own = table_get(&kinds, who->address);
	who->kind = own ? own->kind : "";
	who->name = own && own->name ? who_keep(who, own->name) : "";
	while ((slot = table_next(&kinds, &cursor)))
		free(slot->value);
	table_free(&kinds);
	table_free(&seen);
	kind_census_free(census);
}

/* Names */

static void who_expand(struct leak_who *who, const struct kind_names *names, const char **kind,
		       const char **name)
{
	struct buffer text = { 0 };

	if (!**name)
		return;
	if (kind_names_is_class(names, *name))
		*kind = "class";
	kind_names_expand(names, *name, &text);
	*name = who_keep(who, text.data);
	buffer_free(&text);
}

/* Marked texts become names that can be shown. */
static void who_find_names(struct leaks_pass *pass, struct leak_who *who,
			   struct leak_report *report)
{
	struct memory_report names_report = { 0 };
	struct memory_names reader = { pass->wanted->names, pass->image, &names_report };
	const struct kind_namer namer = memory_names_namer(&reader);
	struct leak_links *lists[] = { &who->holders, &who->way };
	struct kind_names names = { 0 };
	size_t i, n;

	kind_names_collect(&names, &pass->modules, who->name);
	for (n = 0; n < 2; n++)
		for (i = 0; i < lists[n]->count; i++)
			kind_names_collect(&names, &pass->modules, lists[n]->items[i].name);
	if (names.count && pass->wanted->names)
		namer.name(namer.context, &pass->modules, names.items, names.count);
	who_expand(who, &names, &who->kind, &who->name);
	for (n = 0; n < 2; n++)
		for (i = 0; i < lists[n]->count; i++)
			who_expand(who, &names, &lists[n]->items[i].kind, &lists[n]->items[i].name);
	if (names_report.remarks.length)
		buffer_append(&report->remarks, names_report.remarks.data,
			      names_report.remarks.length);
	kind_names_free(&names);
	memory_report_free(&names_report);
}

static enum leak_verdict who_verdict(const struct leaks_pass *pass,
				     const struct reach_candidates *candidates, size_t target)
{
	const struct reach_candidate *kept =
		reach_candidates_find(candidates, pass->blocks.items[target].address);
	enum leak_verdict verdict = pass->graph.nodes[target].verdict;

	if (kept)
		return kept->verdict;
	return verdict == LEAK_REACHABLE || verdict == LEAK_STALE ? verdict : LEAK_UNJUDGED;
}

static int who_refuse(const struct leaks_pass *pass, const struct leak_who *who,
		      struct error *error)
{
	if (!image_find(pass->image, who->asked))
		return error_set(error, ERROR_NOTHING, -ENOENT,
				 "0x%llx is no address of the process: --who takes one in a block "
				 "of malloc",
				 (unsigned long long)who->asked);
	return error_set(error, ERROR_NOTHING, -ENOENT,
			 "0x%llx is in no block that is in use, but in %s: --who takes an address "
			 "in a block of malloc",
			 (unsigned long long)who->asked,
			 leak_root_title(reach_roots_of(&pass->roots, who->asked)));
}

int leaks_who_fill(struct leaks_pass *pass, const struct reach_candidates *candidates,
		   struct leak_who *who, struct leak_report *report, struct error *error)
{
	const struct reach_candidate *kept;
	size_t target = who_find(pass, who);

	if (target == SIZE_MAX)
		return who_refuse(pass, who, error);
	who->address = pass->blocks.items[target].address;
	who->size = pass->blocks.items[target].bytes;
	who->verdict = who_verdict(pass, candidates, target);
	kept = reach_candidates_find(candidates, who->address);
	who->note = reach_code_text(kept ? kept->encoded : REACH_CODE_NONE);
	who_add_way(pass, who, target);
	who_add_holders(pass, who, target, report);
	who_find_kinds(pass, who);
	who_find_names(pass, who, report);
	return 0;
}
