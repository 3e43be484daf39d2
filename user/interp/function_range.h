/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the function around an address of a mapped file without symbols, from the table of
 * functions that the file keeps in memory for exceptions (.eh_frame_hdr). Reads neither files nor
 * the entries themselves.
 */
#ifndef INTERP_FUNCTION_RANGE_H
#define INTERP_FUNCTION_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "interp/target_memory.h"

/*
 * `image` is where the first byte of the file is mapped, all addresses are as the process sees them. The end is where
 * the next function begins. False, with both untouched, if the file has no such table, or the address is before the
 * first function or in the last one, whose end is not in the table.
 */
bool function_range_find(const struct target_memory *memory, uint64_t image, uint64_t address,
			 uint64_t *ret_start, uint64_t *ret_end);

#endif
