/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From an ELF image to rows and their page index: see cfi_table.h. */
#include "unwind/cfi_table.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "unwind/cfi_program.h"
#include "unwind/cfi_rows.h"
#include "unwind/eh_frame.h"

/* Number of the page of the row at a position. */
static uint32_t cfi_page_of(const struct cfi_table *table, uint32_t position)
{
	return UNWIND_ROW_PC(table->rows[position]) >> UNWIND_PAGE_SHIFT;
}

/* The first row is not indexed: it is before the first page. */
static void cfi_index_pages(struct cfi_table *table)
{
	uint32_t page, row = 1;

	if (table->row_count > 1) {
		table->first_page = cfi_page_of(table, 1);
		table->page_count =
			cfi_page_of(table, table->row_count - 1) - table->first_page + 1;
	}
	table->pages = memory_alloc((size_t)table->page_count + 1, sizeof(*table->pages));
	for (page = 0; page < table->page_count; page++) {
		table->pages[page] = row;
		while (row < table->row_count &&
		       cfi_page_of(table, row) - table->first_page == page)
			row++;
	}
	table->pages[page] = row;
}

static void cfi_compile(struct eh_frame *frame, struct cfi_rows *rows)
{
	size_t i;

	for (i = 0; i < frame->cie_count; i++)
		cfi_program_start(&frame->cies[i]);
	for (i = 0; i < frame->fde_count && !rows->full; i++) {
		struct eh_fde *fde = &frame->fdes[i];

		if (fde->end > UINT32_MAX)
			frame->skipped++;
		else
			cfi_program_run(&frame->cies[fde->cie], fde, rows);
	}
}

int cfi_table_build(const struct elf_image *image, struct cfi_table *ret_table)
{
	struct elf_eh_frame section;
	struct cfi_table table = { 0 };
	struct eh_frame frame;
	struct cfi_rows rows;
	int error;

	error = elf_image_eh_frame(image, &section);
	if (!error)
		error = eh_frame_read(&section, &frame);
	if (error)
		return error;
	cfi_rows_start(&rows);
	cfi_compile(&frame, &rows);
	table.functions = (uint32_t)frame.fde_count;
	table.skipped = (uint32_t)frame.skipped;
	eh_frame_free(&frame);
	if (rows.full) {
		cfi_rows_free(&rows);
		return -E2BIG;
	}
	table.rows = memory_resize(rows.items, rows.count, sizeof(*rows.items));
	table.row_count = (uint32_t)rows.count;
	cfi_index_pages(&table);
	*ret_table = table;
	return 0;
}

void cfi_table_free(struct cfi_table *table)
{
	if (!table)
		return;
	free(table->rows);
	free(table->pages);
	*table = (struct cfi_table){ 0 };
}

__u64 cfi_table_find(const struct cfi_table *table, uint64_t pc)
{
	uint64_t page = (pc >> UNWIND_PAGE_SHIFT) - table->first_page;
	uint32_t low, high, middle;

	if (page >= table->page_count)
		return table->rows[0];
	low = table->pages[page] - 1;
	high = table->pages[page + 1];
	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (UNWIND_ROW_PC(table->rows[middle]) <= pc)
			low = middle;
		else
			high = middle;
	}
	return table->rows[low];
}
