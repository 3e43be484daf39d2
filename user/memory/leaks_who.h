/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds what points to one block of a pass, and the path from a root to it. */
#ifndef MEMORY_LEAKS_WHO_H
#define MEMORY_LEAKS_WHO_H

#include "base/error.h"
#include "memory/leaks_pass.h"
#include "model/leak_who.h"

/* Does the pass prove that the block is reachable? Then no other pass is needed. */
bool leaks_who_is_reached(const struct leaks_pass *pass, const struct leak_who *who);

/*
 * Answer `who`, whose `asked` is set; `candidates` are what all passes have left, and the pass is
 * the last one. Reads all memory again. Returns 0, or a negative errno with `error` filled:
 * ERROR_NOTHING if there is no such block.
 */
int leaks_who_fill(struct leaks_pass *pass, const struct reach_candidates *candidates,
		   struct leak_who *who, struct leak_report *report, struct error *error);

#endif
