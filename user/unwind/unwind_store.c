/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Many files' tables in two arrays: see unwind_store.h. */
#include "unwind/unwind_store.h"

#include <errno.h>
#include <string.h>

void unwind_store_start(struct unwind_store *store, __u64 *rows, uint32_t row_capacity,
			uint32_t *pages, uint32_t page_capacity)
{
	if (row_capacity > UNWIND_ROWS_MAX)
		row_capacity = UNWIND_ROWS_MAX;
	*store = (struct unwind_store){ .rows = rows, .pages = pages };
	unwind_room_start(&store->row_room, 1, row_capacity - 1);
	unwind_room_start(&store->page_room, 0, page_capacity);
	rows[0] = UNWIND_ROW(0, UNWIND_RULE(UNWIND_CFA_END, 0, 0, 0));
}

int unwind_store_add(struct unwind_store *store, const struct cfi_table *table,
		     struct unwind_place *ret_place)
{
	uint32_t page_count = table->page_count + 1, rows, pages, i;

	if (!unwind_room_take(&store->row_room, table->row_count, &rows))
		return -ENOSPC;
	if (!unwind_room_take(&store->page_room, page_count, &pages)) {
		unwind_room_give(&store->row_room, rows, table->row_count);
		return -ENOSPC;
	}
	memcpy(store->rows + rows, table->rows, table->row_count * sizeof(*table->rows));
	for (i = 0; i < page_count; i++)
		store->pages[pages + i] = table->pages[i] + rows;
	*ret_place = (struct unwind_place){
		.pages = pages,
		.first_page = table->first_page,
		.page_count = table->page_count,
		.rows = rows,
		.row_count = table->row_count,
	};
	return 0;
}

void unwind_store_remove(struct unwind_store *store, const struct unwind_place *place)
{
	if (!place->row_count)
		return;
	unwind_room_give(&store->row_room, place->rows, place->row_count);
	unwind_room_give(&store->page_room, place->pages, place->page_count + 1);
}

void unwind_store_free(struct unwind_store *store)
{
	unwind_room_free(&store->row_room);
	unwind_room_free(&store->page_room);
}

void unwind_mappings_clear(struct unwind_mappings *mappings)
{
	uint32_t i;

	for (i = 0; i < UNWIND_MAPPINGS_MAX; i++)
		mappings->starts[i] = UNWIND_MAPPING_UNUSED;
	memset(mappings->mappings, 0, sizeof(mappings->mappings));
}

int unwind_mappings_add(struct unwind_mappings *mappings, uint32_t count, uint64_t start,
			uint64_t end, uint64_t bias, const struct unwind_place *place,
			uint32_t flags)
{
	if (count >= UNWIND_MAPPINGS_MAX)
		return -ENOSPC;
	if (start >= end || end > UNWIND_MAPPING_UNUSED ||
	    (count && start < mappings->mappings[count - 1].end))
		return -EINVAL;
	mappings->starts[count] = start;
	mappings->mappings[count] = (struct unwind_mapping){
		.end = end,
		.bias = bias,
		.pages = place->pages,
		.first_page = place->first_page,
		.page_count = place->page_count,
		.flags = flags,
	};
	return 0;
}
