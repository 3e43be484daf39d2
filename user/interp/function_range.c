/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See function_range.h. */
#include "interp/function_range.h"

#include <elf.h>
#include <string.h>

/* More than any real file has. */
#define SEGMENTS_MAX 64u
#define FUNCTIONS_MAX (16u << 20)

/* The form that every linker gives the table: where .eh_frame is, a count, and pairs of offsets from the table. */
#define TABLE_VERSION 1
#define TABLE_COUNT_ENCODING 0x03 /* DW_EH_PE_udata4 */
#define TABLE_ENTRY_ENCODING 0x3b /* DW_EH_PE_datarel | DW_EH_PE_sdata4 */

struct table_header {
	uint8_t version, frame_encoding, count_encoding, entry_encoding;
	int32_t frame;
	uint32_t count;
};

struct table_entry {
	int32_t function, description;
};

/* Where the table is; 0 = the file has none. */
static uint64_t range_table(const struct target_memory *memory, uint64_t image)
{
	uint64_t first = 0, table = 0;
	bool has_first = false;
	Elf64_Phdr segment;
	Elf64_Ehdr header;
	unsigned int i;

	if (!target_read(memory, image, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(segment))
		return 0;
	for (i = 0; i < header.e_phnum && i < SEGMENTS_MAX; i++) {
		if (!target_read(memory, image + header.e_phoff + i * sizeof(segment), &segment,
				 sizeof(segment)))
			return 0;
		if (segment.p_type == PT_LOAD && !has_first) {
			first = segment.p_vaddr - segment.p_offset;
			has_first = true;
		}
		if (segment.p_type == PT_GNU_EH_FRAME)
			table = segment.p_vaddr;
	}
	return has_first && table ? image - first + table : 0;
}

/* Where a function begins; 0 = that cannot be read. */
static uint64_t range_function(const struct target_memory *memory, uint64_t table, uint32_t index)
{
	struct table_entry entry;

	if (!target_read(memory,
			 table + sizeof(struct table_header) + (uint64_t)index * sizeof(entry),
			 &entry, sizeof(entry)))
		return 0;
	return table + (uint64_t)(int64_t)entry.function;
}

bool function_range_find(const struct target_memory *memory, uint64_t image, uint64_t address,
			 uint64_t *ret_start, uint64_t *ret_end)
{
	uint64_t table = range_table(memory, image), start, end;
	struct table_header header;
	uint32_t low = 0, high;

	if (!table || !target_read(memory, table, &header, sizeof(header)) ||
	    header.version != TABLE_VERSION || header.count_encoding != TABLE_COUNT_ENCODING ||
	    header.entry_encoding != TABLE_ENTRY_ENCODING || header.count < 2 ||
	    header.count > FUNCTIONS_MAX)
		return false;
	/* The function is in [low, high), which does not hold the last one. */
	high = header.count - 1;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (range_function(memory, table, middle) <= address)
			low = middle;
		else
			high = middle;
	}
	start = range_function(memory, table, low);
	end = range_function(memory, table, low + 1);
	if (!start || start > address || address >= end)
		return false;
	*ret_start = start;
	*ret_end = end;
	return true;
}
