/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From modules and mappings to lists that BPF can search: see unwind_tables.h. */
#include "unwind/unwind_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* How much of what is left a process may have besides. */
#define SHARE 3

/* What the modules of a process have in the store. */
struct unwind_share {
	uint64_t rows, pages;
};

bool unwind_tables_has(const struct unwind_tables *tables, uint32_t module)
{
	return module < tables->count && tables->modules[module].known;
}

static struct unwind_known *unwind_tables_entry(struct unwind_tables *tables, uint32_t module)
{
	size_t count = (size_t)module + 1;

	if (module >= tables->count) {
		tables->modules = memory_resize(tables->modules, count, sizeof(*tables->modules));
		memset(tables->modules + tables->count, 0,
		       (count - tables->count) * sizeof(*tables->modules));
		tables->count = count;
	}
	return &tables->modules[module];
}

static struct unwind_share *unwind_tables_share_of(struct unwind_tables *tables, int holder)
{
	struct unwind_share *share = table_get(&tables->shares, (uint64_t)holder);

	if (!share) {
		share = memory_alloc(1, sizeof(*share));
		table_put(&tables->shares, (uint64_t)holder, share);
	}
	return share;
}

static bool share_allows(uint64_t has, uint64_t wants, uint64_t left)
{
	return wants <= left && has + wants <= SHARE * (left - wants);
}

/* May the process have this table besides what it has? */
static bool unwind_tables_allow(struct unwind_tables *tables, const struct cfi_table *table,
				int holder)
{
	const struct unwind_share *share = unwind_tables_share_of(tables, holder);
	const struct unwind_store *store = &tables->store;

	return share_allows(share->rows, table->row_count, store->row_room.left) &&
	       share_allows(share->pages, table->page_count, store->page_room.left);
}

static int unwind_tables_place(struct unwind_tables *tables, struct unwind_known *known,
			       const struct cfi_table *table, int holder)
{
	struct unwind_share *share;
	int code;

	if (holder && !unwind_tables_allow(tables, table, holder))
		return -EDQUOT;
	code = unwind_store_add(&tables->store, table, &known->place);
	if (code || !holder)
		return code;
	share = unwind_tables_share_of(tables, holder);
	share->rows += table->row_count;
	share->pages += table->page_count;
	known->holder = holder;
	return 0;
}

int unwind_tables_add(struct unwind_tables *tables, uint32_t module, int holder,
		      const struct unwind_file *file)
{
	struct unwind_known *known = unwind_tables_entry(tables, module);
	int code;

	*known = (struct unwind_known){ .known = true };
	if (!file)
		return 0;
	memcpy(known->codes, file->codes, sizeof(known->codes));
	known->code_count = file->code_count;
	code = unwind_tables_place(tables, known, &file->table, holder);
	known->no_space = code == -ENOSPC || code == -EDQUOT;
	return code;
}

void unwind_tables_share(struct unwind_tables *tables, uint32_t module)
{
	struct unwind_known *known;
	struct unwind_share *share;

	if (!unwind_tables_has(tables, module) || !tables->modules[module].holder)
		return;
	known = &tables->modules[module];
	share = unwind_tables_share_of(tables, known->holder);
	share->rows -= known->place.row_count;
	share->pages -= known->place.page_count;
	if (!share->rows && !share->pages)
		free(table_remove(&tables->shares, (uint64_t)known->holder));
	known->holder = 0;
}

void unwind_tables_expect(struct unwind_tables *tables, uint32_t module)
{
	if (!unwind_tables_has(tables, module) || tables->modules[module].expected)
		return;
	tables->modules[module].expected = true;
	tables->expected_rows += tables->modules[module].place.row_count;
}

void unwind_tables_see(struct unwind_tables *tables, uint32_t module)
{
	if (!unwind_tables_has(tables, module) || !tables->modules[module].expected)
		return;
	tables->modules[module].expected = false;
	tables->expected_rows -= tables->modules[module].place.row_count;
}

void unwind_tables_remove(struct unwind_tables *tables, uint32_t module)
{
	if (!unwind_tables_has(tables, module))
		return;
	unwind_tables_see(tables, module);
	unwind_tables_share(tables, module);
	unwind_store_remove(&tables->store, &tables->modules[module].place);
	tables->modules[module] = (struct unwind_known){ 0 };
}

size_t unwind_tables_retry(struct unwind_tables *tables)
{
	size_t i, count = 0;

	for (i = 0; i < tables->count; i++) {
		if (!tables->modules[i].no_space)
			continue;
		tables->modules[i] = (struct unwind_known){ 0 };
		count++;
	}
	return count;
}

bool unwind_tables_rows(const struct unwind_tables *tables, uint32_t module,
			struct unwind_file_rows *ret_rows)
{
	const struct unwind_known *known;

	if (!unwind_tables_has(tables, module))
		return false;
	known = &tables->modules[module];
	if (!known->code_count || !known->place.page_count)
		return false;
	*ret_rows = (struct unwind_file_rows){
		.offset = known->codes[0].offset,
		.size = known->codes[0].size,
		.address = known->codes[0].address,
		.pages = known->place.pages,
		.first_page = known->place.first_page,
		.page_count = known->place.page_count,
	};
	return true;
}

/* Add one mapping at position `count`. Returns what unwind_mappings_add does. */
static int unwind_list_add(const struct unwind_tables *tables,
			   const struct address_mapping *mapping, struct unwind_mappings *mappings,
			   uint32_t count)
{
	struct unwind_place place = { 0 };
	const struct unwind_known *known;
	uint64_t bias = 0;

	if (unwind_tables_has(tables, mapping->module)) {
		known = &tables->modules[mapping->module];
		if (elf_code_bias(known->codes, known->code_count, mapping->start,
				  mapping->file_offset, &bias))
			place = known->place;
	}
	return unwind_mappings_add(mappings, count, mapping->start, mapping->end, bias, &place,
				   mapping->anonymous ? UNWIND_MAPPING_ANONYMOUS : 0);
}

size_t unwind_tables_list(const struct unwind_tables *tables, const struct address_space *space,
			  struct unwind_mappings *ret_mappings)
{
	size_t total = address_space_count(space), i, left_out = 0;
	bool with_anonymous = total <= UNWIND_MAPPINGS_MAX;
	struct address_mapping mapping;
	uint32_t count = 0;

	unwind_mappings_clear(ret_mappings);
	for (i = 0; i < total; i++) {
		mapping = address_space_get(space, i);
		if ((mapping.anonymous && !with_anonymous) ||
		    unwind_list_add(tables, &mapping, ret_mappings, count))
			left_out++;
		else
			count++;
	}
	return left_out;
}

void unwind_tables_free(struct unwind_tables *tables)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	while ((slot = table_next(&tables->shares, &cursor)))
		free(slot->value);
	table_free(&tables->shares);
	unwind_store_free(&tables->store);
	free(tables->modules);
	tables->modules = NULL;
	tables->count = 0;
}
