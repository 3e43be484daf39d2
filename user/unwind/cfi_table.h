/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind table of one ELF file: its .eh_frame, compiled to rows that BPF can search
 * (unwind_abi.h). Pure: bytes in, rows out.
 */
#ifndef UNWIND_CFI_TABLE_H
#define UNWIND_CFI_TABLE_H

#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/elf_image.h"
#include "unwind_abi.h"

struct cfi_table {
	__u64 *rows; /* owned; at least one */
	uint32_t row_count;
	uint32_t *pages; /* owned; page_count + 1 positions in rows, each at least 1 */
	uint32_t first_page, page_count;
	uint32_t functions; /* described by .eh_frame */
	uint32_t skipped; /* entries of .eh_frame that could not be understood */
};

/*
 * Compile the .eh_frame of an image. Returns 0; -ENODATA if it has none; -E2BIG if it is larger than any real
 * file's. `*ret_table` is untouched on failure. Free with cfi_table_free.
 */
int cfi_table_build(const struct elf_image *image, struct cfi_table *ret_table);
void cfi_table_free(struct cfi_table *table);

/* The row in effect at `pc`, an address as the file sees it; the first row if there is none. */
__u64 cfi_table_find(const struct cfi_table *table, uint64_t pc);

#endif
