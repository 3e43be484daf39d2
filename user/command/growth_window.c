/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See growth_window.h. */
#include "command/growth_window.h"

#include <string.h>

#define WINDOW_NS 10000000000ull
#define SPACING_NS 900000000ull /* timers are a little early or late */

static void window_drop_first(struct growth_window *window)
{
	growth_free(&window->moments[0].base);
	window->count--;
	memmove(window->moments, window->moments + 1, window->count * sizeof(window->moments[0]));
}

void growth_window_keep(struct growth_window *window, const struct snapshot *snapshot,
			bool without_young)
{
	struct growth_moment *moment;

	if (window->count &&
	    snapshot->time_ns < window->moments[window->count - 1].time_ns + SPACING_NS)
		return;
	/* The second one is old enough: the first is not needed any more. */
	while (window->count > 1 && window->moments[1].time_ns + WINDOW_NS <= snapshot->time_ns)
		window_drop_first(window);
	if (window->count == GROWTH_WINDOW_MAX)
		window_drop_first(window);
	moment = &window->moments[window->count++];
	*moment = (struct growth_moment){ .time_ns = snapshot->time_ns };
	growth_keep(&moment->base, snapshot, without_young);
}

void growth_window_mark(struct growth_window *window, const struct snapshot *snapshot,
			bool without_young)
{
	growth_keep(&window->mark.base, snapshot, without_young);
	window->mark.time_ns = snapshot->time_ns;
}

void growth_window_unmark(struct growth_window *window)
{
	growth_free(&window->mark.base);
	window->mark.time_ns = 0;
}

const struct growth_base *growth_window_find(const struct growth_window *window, uint64_t now_ns,
					     uint64_t *ret_ns)
{
	const struct growth_moment *moment = &window->mark;
	size_t i;

	*ret_ns = 0;
	if (!moment->time_ns) {
		moment = NULL;
		for (i = 0; i < window->count && window->moments[i].time_ns < now_ns; i++)
			if (!moment || window->moments[i].time_ns + WINDOW_NS <= now_ns)
				moment = &window->moments[i];
	}
	if (!moment)
		return NULL;
	*ret_ns = now_ns > moment->time_ns ? now_ns - moment->time_ns : 0;
	return &moment->base;
}

void growth_window_free(struct growth_window *window)
{
	while (window->count)
		window_drop_first(window);
	growth_window_unmark(window);
}
