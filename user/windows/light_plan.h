/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds out for which functions of a plan a census of the heap lists the blocks. */
#ifndef WINDOWS_LIGHT_PLAN_H
#define WINDOWS_LIGHT_PLAN_H

#include "base/error.h"
#include "probe/plan.h"
#include "follow/sites.h"

/* How exactly the heap shows the blocks of a function. */
enum light_blocks {
	LIGHT_BLOCKS_EXACT, /* listed with the requested size: a missing block has been freed */
	LIGHT_BLOCKS_LARGER, /* listed, but the function may request more than its caller */
	LIGHT_BLOCKS_ELSEWHERE, /* they may lie outside these heaps */
};

/* Sites, and the plan that their functions come from. */
struct light_sites {
	const struct plan *plan;
	struct sites *sites;
};

/*
 * By the key of a site; `context` is a struct light_sites. A site that is still unknown is found at
 * the next report.
 */
enum light_blocks light_plan_blocks_of_site(const void *context, uint64_t key);

/* By the id of a function. */
enum light_blocks light_plan_blocks(const struct plan *plan, uint32_t function);

/*
 * Does the heap show the blocks of all allocating functions? If not, returns -ENOTSUP with `error`
 * filled.
 */
int light_plan_check(const struct plan *plan, struct error *error);

#endif
