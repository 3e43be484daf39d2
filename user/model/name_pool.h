/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A pool of frame names, each kept once: equal names have one address. Reference-counted, since
 * sessions and snapshots share stacks with its names; the last holder frees it.
 */
#ifndef MODEL_NAME_POOL_H
#define MODEL_NAME_POOL_H

#include "model/stack.h"

struct name_pool;

/* A pool with one holder. */
struct name_pool *name_pool_new(void);
/* Take a reference. Returns `pool`. */
struct name_pool *name_pool_share(struct name_pool *pool);
/* Drop a reference. Accepts NULL. */
void name_pool_free(struct name_pool *pool);

/* The pool's copy of a name, which lives as long as the pool. An empty text becomes NULL. */
const struct frame_name *name_pool_keep(struct name_pool *pool, const struct frame_name *name);

#endif
