/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What sites held some time ago, to compute growth: over the last ten seconds, or since a mark. */
#ifndef COMMAND_GROWTH_WINDOW_H
#define COMMAND_GROWTH_WINDOW_H

#include "verdict/growth.h"

#define GROWTH_WINDOW_MAX 12

/* {0} = nothing is known. Free with growth_window_free. */
struct growth_window {
	struct growth_moment {
		struct growth_base base;
		uint64_t time_ns;
	} moments[GROWTH_WINDOW_MAX]; /* the oldest first */
	size_t count;
	struct growth_moment mark; /* time_ns 0 = no mark */
};

/* Keep what the sites of a snapshot hold, at most once a second. */
void growth_window_keep(struct growth_window *window, const struct snapshot *snapshot,
			bool without_young);

/* Set the mark: growth counts from this snapshot. */
void growth_window_mark(struct growth_window *window, const struct snapshot *snapshot,
			bool without_young);
void growth_window_unmark(struct growth_window *window);

/*
 * The base for growth until `now_ns`: the mark, or the last moment at least ten seconds ago, or the
 * first one. NULL = none yet. `ret_ns`: its age.
 */
const struct growth_base *growth_window_find(const struct growth_window *window, uint64_t now_ns,
					     uint64_t *ret_ns);

void growth_window_free(struct growth_window *window);

#endif
