/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See deadline.h. */
#include "base/deadline.h"

#include <limits.h>

#include "base/clock.h"

#define NS_PER_MS 1000000

uint64_t deadline_in_ms(int time_ms)
{
	return clock_now_ns() + (uint64_t)time_ms * NS_PER_MS;
}

void deadline_add(uint64_t *deadline_ns, uint64_t other_ns)
{
	if (other_ns && (!*deadline_ns || other_ns < *deadline_ns))
		*deadline_ns = other_ns;
}

bool deadline_has_passed(uint64_t deadline_ns)
{
	return deadline_ns && clock_now_ns() >= deadline_ns;
}

int deadline_poll_ms(uint64_t deadline_ns)
{
	uint64_t now_ns = clock_now_ns(), left_ms;

	if (!deadline_ns)
		return -1;
	if (now_ns >= deadline_ns)
		return 0;
	left_ms = (deadline_ns - now_ns - 1) / NS_PER_MS + 1;
	return left_ms < INT_MAX ? (int)left_ms : INT_MAX;
}
