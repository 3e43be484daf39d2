/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a function returns: its return instructions, and those of the code that it jumps to instead of returning.
 * Probed in the place of the return of functions that exceptions may leave, since no exception gets past a return
 * probe.
 */
#ifndef PROBE_EXITS_H
#define PROBE_EXITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "system/elf_file.h"

/* A function with more of them is given up. */
#define EXITS_MAX 32

struct exits {
	uint64_t offsets[EXITS_MAX]; /* in the file */
	size_t count;
	const char *refusal; /* why they cannot be known: a phrase, static */
};

/*
 * Find all exits of the function at file offset `entry`. False, with the refusal, if there may be others than those
 * that can be found, or there is none.
 */
bool exits_find(struct elf_file *file, uint64_t entry, struct exits *ret_exits);

#endif
