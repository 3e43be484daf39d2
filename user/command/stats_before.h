/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What sites had allocated and freed at a moment, to reduce a later snapshot to what came since. */
#ifndef COMMAND_STATS_BEFORE_H
#define COMMAND_STATS_BEFORE_H

#include "model/snapshot.h"

struct stats_before;

/* Free with stats_before_free, which accepts NULL. */
struct stats_before *stats_before_new(const struct snapshot *snapshot);
void stats_before_free(struct stats_before *before);

/*
 * Reduce the sites of `snapshot`, of the same run, to what they have allocated since, and to frees
 * of at most that much.
 */
void stats_before_subtract(const struct stats_before *before, struct snapshot *snapshot);

#endif
