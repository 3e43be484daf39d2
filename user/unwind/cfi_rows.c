/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows in the making: see cfi_rows.h. */
#include "unwind/cfi_rows.h"

#include <stdlib.h>

#include "base/memory.h"

#define END_RULE UNWIND_RULE(UNWIND_CFA_END, 0, 0, 0)

static void cfi_rows_push(struct cfi_rows *rows, uint32_t pc, __u32 rule)
{
	__u64 last = rows->items[rows->count - 1];

	if (UNWIND_ROW_RULE(last) == rule)
		return;
	if (rows->count >= CFI_ROWS_MAX) {
		rows->full = true;
		return;
	}
	if (UNWIND_ROW_PC(last) >> UNWIND_PAGE_SHIFT != pc >> UNWIND_PAGE_SHIFT)
		rows->page_start = rows->count;
	/* Only a page with a row for every single byte gets here. */
	if (rows->count - rows->page_start >= UNWIND_PAGE_ROWS_MAX)
		return;
	rows->items = memory_grow(rows->items, rows->count, &rows->capacity, sizeof(*rows->items));
	rows->items[rows->count++] = UNWIND_ROW(pc, rule);
}

/* Take back the last row if one at `pc` replaces it. The first row always stays. */
static void cfi_rows_yield(struct cfi_rows *rows, uint32_t pc)
{
	if (rows->count > 1 && UNWIND_ROW_PC(rows->items[rows->count - 1]) == pc)
		rows->count--;
}

void cfi_rows_start(struct cfi_rows *rows)
{
	*rows = (struct cfi_rows){ 0 };
	rows->items = memory_grow(NULL, 0, &rows->capacity, sizeof(*rows->items));
	rows->items[rows->count++] = UNWIND_ROW(0, END_RULE);
	rows->page_start = 1;
}

void cfi_rows_add(struct cfi_rows *rows, uint32_t pc, __u32 rule)
{
	if (pc < rows->floor)
		pc = rows->floor;
	cfi_rows_yield(rows, pc);
	cfi_rows_push(rows, pc, rule);
}

void cfi_rows_end(struct cfi_rows *rows, uint32_t pc)
{
	if (pc <= rows->floor)
		return;
	cfi_rows_push(rows, pc, END_RULE);
	rows->floor = pc;
}

void cfi_rows_free(struct cfi_rows *rows)
{
	free(rows->items);
	*rows = (struct cfi_rows){ 0 };
}
