/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as an ELF image, as one in memory, or as the .eh_frame of a sound image. Rows must ascend, and
 * the page index must lead to the row that a walk over all rows finds.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/elf_builder.h"
#include "fuzz.h"
#include "unwind/cfi_table.h"

static void check_row(const struct cfi_table *table, uint32_t row)
{
	uint64_t pc = UNWIND_ROW_PC(table->rows[row]);

	if (row + 1 < table->row_count)
		MUST(pc < UNWIND_ROW_PC(table->rows[row + 1]));
	MUST(cfi_table_find(table, pc) == table->rows[row]);
	if (pc)
		MUST(cfi_table_find(table, pc - 1) == table->rows[row - 1]);
}

static void check_image(const void *bytes, size_t size, enum elf_layout layout)
{
	struct elf_code codes[ELF_CODES_MAX];
	struct elf_image image;
	struct cfi_table table;
	uint64_t bias;
	uint32_t row;

	if (elf_image_open(bytes, size, layout, &image))
		return;
	elf_code_bias(codes, elf_image_codes(&image, codes), 0x7f0000000000, 0x1000, &bias);
	if (cfi_table_build(&image, &table))
		return;
	MUST(table.row_count && table.rows[0] == 0);
	MUST(table.pages[table.page_count] == table.row_count);
	for (row = 1; row < table.row_count; row++)
		check_row(&table, row);
	cfi_table_free(&table);
}

static void check_section(const uint8_t *data, size_t size, bool by_section)
{
	struct elf_builder builder = {
		.frames = data, .size = size, .by_section = by_section, .by_segment = !by_section
	};
	struct buffer bytes = { 0 };
	void *exact;

	elf_builder_write(&builder, &bytes);
	exact = fuzz_copy(bytes.data, bytes.length);
	check_image(exact, bytes.length, by_section ? ELF_LAYOUT_FILE : ELF_LAYOUT_MEMORY);
	free(exact);
	buffer_free(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (*data & 3) {
	case 0:
		check_section(data + 1, size - 1, true);
		break;
	case 1:
		check_section(data + 1, size - 1, false);
		break;
	case 2:
		check_image(data + 1, size - 1, ELF_LAYOUT_MEMORY);
		break;
	default:
		check_image(data + 1, size - 1, ELF_LAYOUT_FILE);
	}
	return 0;
}
