/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See gc_clock.h. */
#include "model/gc_clock.h"

void gc_clock_look(struct gc_clock *clock, uint64_t now_ns, uint64_t count, bool is_running)
{
	uint64_t more;

	if (!clock->is_known || count < clock->count)
		*clock = (struct gc_clock){ .is_known = true, .count = count, .look_ns = now_ns };
	more = count - clock->count;
	if (more > GC_CLOCK_MAX)
		more = GC_CLOCK_MAX;
	for (; more; more--)
		clock->times[clock->begun++ % GC_CLOCK_MAX] = clock->look_ns;
	/* One begins when the one before has ended. Of an ended one the collector is at work again: that is a minor one. */
	if (!is_running)
		clock->ended = clock->begun;
	else if (clock->begun > clock->ended)
		clock->ended = clock->begun - 1;
	clock->count = count;
	clock->look_ns = now_ns;
}

/* Collections that have ended and whose times are kept. */
static uint64_t clock_kept(const struct gc_clock *clock)
{
	uint64_t oldest = clock->begun > GC_CLOCK_MAX ? clock->begun - GC_CLOCK_MAX : 0;

	return clock->ended - oldest;
}

uint64_t gc_clock_outlived(const struct gc_clock *clock, uint64_t born_ns)
{
	uint64_t kept = clock_kept(clock), count;

	for (count = 0; count < kept; count++)
		if (clock->times[(clock->ended - 1 - count) % GC_CLOCK_MAX] < born_ns)
			break;
	return count;
}

uint64_t gc_clock_age(const struct gc_clock *clock, uint64_t now_ns, uint64_t count)
{
	uint64_t time_ns;

	if (!count || count > clock_kept(clock))
		return UINT64_MAX;
	time_ns = clock->times[(clock->ended - count) % GC_CLOCK_MAX];
	return now_ns > time_ns ? now_ns - time_ns : 0;
}
