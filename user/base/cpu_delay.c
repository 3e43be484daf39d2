/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See cpu_delay.h. */
#include "base/cpu_delay.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

struct cpu_delay cpu_delay_open(const char *path)
{
	return (struct cpu_delay){ .fd = open(path, O_RDONLY | O_CLOEXEC) };
}

void cpu_delay_close(struct cpu_delay *delay)
{
	if (delay->fd >= 0)
		close(delay->fd);
	*delay = (struct cpu_delay){ .fd = -1 };
}

/* Of the thread: nanoseconds on a CPU, nanoseconds of waiting for one, turns. */
int64_t cpu_delay_read(struct cpu_delay *delay)
{
	char text[128];
	long long ns;
	ssize_t size = delay->fd >= 0 ? pread(delay->fd, text, sizeof(text) - 1, 0) : 0;

	if (size <= 0)
		return delay->ns;
	text[size] = '\0';
	if (sscanf(text, "%*u %lld", &ns) == 1 && ns > delay->ns)
		delay->ns = ns;
	return delay->ns;
}
