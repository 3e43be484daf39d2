/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See cpu_time.h. */
#include "system/cpu_time.h"

#include <time.h>

uint64_t cpu_time_read(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &time))
		return 0;
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}
