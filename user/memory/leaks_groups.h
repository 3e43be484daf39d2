/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups lost blocks by allocating site, or else by kind and size: the rows of a report. */
#ifndef MEMORY_LEAKS_GROUPS_H
#define MEMORY_LEAKS_GROUPS_H

#include "memory/leaks_pass.h"

/*
 * Add a row for each site of lost and possibly lost blocks, and, for blocks without a site, for
 * each kind and size; includes what is lost through them. Largest first.
 */
void leaks_groups_fill(const struct leaks_pass *pass, const struct reach_candidates *candidates,
		       struct leak_report *report);

#endif
