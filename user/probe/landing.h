/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Searches for jumps into the beginning of a function from other code of its file. Compilers split
 * functions: the rarely used part is placed elsewhere, belongs to no symbol, and could jump back to
 * anywhere.
 *
 * Every four bytes are taken as the displacement of a jump, so the search misses no direct jump,
 * wherever instructions begin; it may find false ones, which only costs a cheaper site.
 */
#ifndef PROBE_LANDING_H
#define PROBE_LANDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf/elf_file.h"

/* The range where no jump may land: file offsets, inclusive. */
struct landing {
	uint64_t first, last;
	bool searched; /* all code of its segment was searched */
	bool found; /* something may jump there */
};

/* Search for jumps into each of `items`, whose `searched` and `found` are false. */
void landing_search(struct elf_file *file, struct landing *items, size_t count);

#endif
