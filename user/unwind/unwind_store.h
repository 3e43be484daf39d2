/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of many files in the form in which BPF reads them: in runs of two arrays, and for each process a list of
 * mappings with the positions of their files' tables. Pure: the memory of the arrays is the caller's.
 */
#ifndef UNWIND_UNWIND_STORE_H
#define UNWIND_UNWIND_STORE_H

#include <linux/types.h>
#include <stdint.h>

#include "unwind/cfi_table.h"
#include "unwind/unwind_room.h"
#include "unwind_abi.h"

struct unwind_store {
	__u64 *rows;
	uint32_t *pages;
	struct unwind_room row_room, page_room;
};

/* Where in the store the table of a file is; {0} = the file has none. */
struct unwind_place {
	uint32_t pages; /* position of the entry of first_page */
	uint32_t first_page, page_count;
	uint32_t rows, row_count;
};

/*
 * Start with an empty store in memory of the caller. Position 0 of the rows becomes an end marker. Free with
 * unwind_store_free, which leaves that memory alone.
 */
void unwind_store_start(struct unwind_store *store, __u64 *rows, uint32_t row_capacity,
			uint32_t *pages, uint32_t page_capacity);

/* Put a table where it fits. Returns 0; -ENOSPC, with nothing changed, if it does so nowhere. */
int unwind_store_add(struct unwind_store *store, const struct cfi_table *table,
		     struct unwind_place *ret_place);

/* Free the space of a table. Nothing may lead to it any more: it is going to be written over. */
void unwind_store_remove(struct unwind_store *store, const struct unwind_place *place);

void unwind_store_free(struct unwind_store *store);

/* Empty a list of mappings. */
void unwind_mappings_clear(struct unwind_mappings *mappings);

/*
 * Put the executable mapping start..end at position `count` of a list, which holds `count` that end at or below
 * `start`. `bias` is that of elf_code_bias; `flags` are UNWIND_MAPPING_*. Returns 0; -ENOSPC if the list is full,
 * -EINVAL if the mapping does not follow the last one.
 */
int unwind_mappings_add(struct unwind_mappings *mappings, uint32_t count, uint64_t start,
			uint64_t end, uint64_t bias, const struct unwind_place *place,
			uint32_t flags);

#endif
