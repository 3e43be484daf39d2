/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See urgency.h. */
#include "system/urgency.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>

#define URGENT_PRIORITY 1

int urgency_allow(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_RTPRIO, &limit))
		return -errno;
	if (limit.rlim_cur >= URGENT_PRIORITY)
		return 0;
	limit.rlim_cur = URGENT_PRIORITY;
	if (limit.rlim_max < URGENT_PRIORITY)
		limit.rlim_max = URGENT_PRIORITY;
	return setrlimit(RLIMIT_RTPRIO, &limit) ? -errno : 0;
}

/* Of the calling thread alone: that is what Linux does with a pid of 0. */
bool urgency_begin(void)
{
	const struct sched_param urgent = { .sched_priority = URGENT_PRIORITY };

	return sched_getscheduler(0) == SCHED_OTHER && !sched_setscheduler(0, SCHED_FIFO, &urgent);
}

void urgency_end(void)
{
	const struct sched_param ordinary = { 0 };

	sched_setscheduler(0, SCHED_OTHER, &ordinary);
}
