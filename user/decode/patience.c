/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See patience.h. */
#include "decode/patience.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "decode/protocol.h"

/* How often the clock is read. */
#define STEP_MS 20

void patience_open(struct patience *patience, bool (*is_over)(void))
{
	*patience = (struct patience){ .is_over = is_over,
				       .own = cpu_delay_open(CPU_DELAY_OWN),
				       .worker = { .fd = -1 } };
}

void patience_close(struct patience *patience)
{
	cpu_delay_close(&patience->own);
	cpu_delay_close(&patience->worker);
}

/* The worker's number is another one in its own PID namespace. */
static pid_t child_of(pid_t pid)
{
	char path[64], text[32];
	ssize_t size;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	size = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[size > 0 ? size : 0] = '\0';
	return (pid_t)strtol(text, NULL, 10);
}

void patience_watch_child(struct patience *patience, pid_t server)
{
	pid_t worker = child_of(server);
	char path[64];

	patience->past_ns += cpu_delay_read(&patience->worker);
	cpu_delay_close(&patience->worker);
	if (worker <= 0)
		return;
	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)worker);
	patience->worker = cpu_delay_open(path);
}

int64_t patience_now_ms(struct patience *patience)
{
	int64_t delay_ns = patience->past_ns + cpu_delay_read(&patience->own);

	return clock_now_ms() - (delay_ns + cpu_delay_read(&patience->worker)) / 1000000;
}

int patience_wait(struct patience *patience, int socket, int64_t deadline_ms)
{
	struct pollfd wait = { .fd = socket, .events = POLLIN };
	int ready;

	for (;;) {
		if (patience->is_over && patience->is_over())
			return -ECANCELED;
		ready = poll(&wait, 1, STEP_MS);
		if (ready > 0)
			return 0;
		if (ready < 0 && errno != EINTR)
			return -errno;
		if (patience_now_ms(patience) >= deadline_ms)
			return -ETIMEDOUT;
	}
}
