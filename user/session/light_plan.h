/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of which functions of a plan the blocks are in heaps that a census finds. */
#ifndef SESSION_LIGHT_PLAN_H
#define SESSION_LIGHT_PLAN_H

#include "base/error.h"
#include "probe/plan.h"
#include "session/sites.h"

/* What is known of the blocks of a function. */
enum light_blocks {
	LIGHT_BLOCKS_EXACT, /* they are in such a heap, of the size that was asked for: what is not found has been freed */
	LIGHT_BLOCKS_LARGER, /* the same, but the function may ask for more */
	LIGHT_BLOCKS_ELSEWHERE, /* they may be elsewhere */
};

/* Sites, and the plan whose functions they are of. */
struct light_sites {
	const struct plan *plan;
	struct sites *sites;
};

/* Of a site, by its key; `context` is a struct light_sites. A site that is not known yet will be at the next report. */
enum light_blocks light_plan_blocks_of_site(const void *context, uint64_t key);

/* Of a function, by its id. */
enum light_blocks light_plan_blocks(const struct plan *plan, uint32_t function);

/* Are those of all functions that allocate? If not, returns -ENOTSUP with `error` filled. */
int light_plan_check(const struct plan *plan, struct error *error);

#endif
