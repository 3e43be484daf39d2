/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lost blocks by who allocated them, or by kind and size: the rows of a report. */
#ifndef MEMORY_LEAKS_GROUPS_H
#define MEMORY_LEAKS_GROUPS_H

#include "memory/leaks_pass.h"

/*
 * Add a row for each site of what is lost, or may be, and without one for each kind and size, with what is lost only through it; the
 * largest first.
 */
void leaks_groups_fill(const struct leaks_pass *pass, const struct reach_candidates *candidates,
		       struct leak_report *report);

#endif
