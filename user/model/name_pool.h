/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of frames, each kept once: equal names have one address. A pool has several holders, since stacks with its names are
 * shared between a session and its snapshots; the last one frees it.
 */
#ifndef MODEL_NAME_POOL_H
#define MODEL_NAME_POOL_H

#include "model/stack.h"

struct name_pool;

/* A pool with one holder. */
struct name_pool *name_pool_new(void);
/* One more holder. Returns `pool`. */
struct name_pool *name_pool_share(struct name_pool *pool);
/* One holder less. Accepts NULL. */
void name_pool_free(struct name_pool *pool);

/* The pool's copy of a name, which lives as long as the pool. An empty text becomes NULL. */
const struct frame_name *name_pool_keep(struct name_pool *pool, const struct frame_name *name);

#endif
