/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What sites held a while ago, for how fast they grow: of the last ten seconds, or since a mark. */
#ifndef COMMAND_GROWTH_WINDOW_H
#define COMMAND_GROWTH_WINDOW_H

#include "analyze/growth.h"

#define GROWTH_WINDOW_MAX 12

/* {0} = nothing is known. Free with growth_window_free. */
struct growth_window {
	struct growth_moment {
		struct growth_base base;
		uint64_t time_ns;
	} moments[GROWTH_WINDOW_MAX]; /* the oldest first */
	size_t count;
	struct growth_moment mark; /* time_ns 0 = there is none */
};

/* Keep what the sites of a snapshot hold; moments of the same second are kept once. */
void growth_window_keep(struct growth_window *window, const struct snapshot *snapshot,
			bool without_young);

/* Growth is since this snapshot. */
void growth_window_mark(struct growth_window *window, const struct snapshot *snapshot,
			bool without_young);
void growth_window_unmark(struct growth_window *window);

/*
 * What growth until `now_ns` is counted from: the mark, or the last moment that was ten seconds ago, or the first one. NULL = there is none
 * before. `ret_ns`: how long ago that was.
 */
const struct growth_base *growth_window_find(const struct growth_window *window, uint64_t now_ns,
					     uint64_t *ret_ns);

void growth_window_free(struct growth_window *window);

#endif
