/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See clock.h. */
#include "base/clock.h"

#define NS_PER_S 1000000000u

static uint64_t clock_read(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t clock_now_ns(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

int64_t clock_now_ms(void)
{
	return (int64_t)(clock_now_ns() / 1000000);
}

uint64_t clock_boot_ns(void)
{
	return clock_read(CLOCK_BOOTTIME);
}

uint64_t clock_thread_ns(void)
{
	return clock_read(CLOCK_THREAD_CPUTIME_ID);
}

struct timespec clock_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_S),
				  .tv_nsec = (long)(ns % NS_PER_S) };
}
