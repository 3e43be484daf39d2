/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of one ELF file while they are being made: ascending, without repetitions. Functions must be
 * added in the order of their starts; where two overlap, the earlier one keeps the common part. The padding
 * between two functions belongs to neither: a return address right behind it was not left by a call, and ends a walk.
 */
#ifndef UNWIND_CFI_ROWS_H
#define UNWIND_CFI_ROWS_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind_abi.h"

/* Ten times the largest library in use. */
#define CFI_ROWS_MAX (8u << 20)

struct cfi_rows {
	__u64 *items; /* owned */
	size_t count, capacity;
	uint32_t floor; /* rows below belong to an earlier function */
	size_t page_start; /* position of the first row of the last row's page */
	bool full; /* CFI_ROWS_MAX was reached: rows are missing */
};

/* Start with the row that every file begins with. */
void cfi_rows_start(struct cfi_rows *rows);

/* From `pc` on, `rule` holds. */
void cfi_rows_add(struct cfi_rows *rows, uint32_t pc, __u32 rule);

/* The function's code ends before `pc`. */
void cfi_rows_end(struct cfi_rows *rows, uint32_t pc);

void cfi_rows_free(struct cfi_rows *rows);

#endif
