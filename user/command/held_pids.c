/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See held_pids.h. */
#include "command/held_pids.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"
#include "system/proc.h"

void held_pids_open(struct held_pids *ret_held, const pid_t *pids, size_t count)
{
	struct proc_status status;
	size_t i;

	*ret_held =
		(struct held_pids){ memory_alloc(count + 1, sizeof(ret_held->items[0])), count };
	for (i = 0; i < count; i++) {
		struct held_pid *held = &ret_held->items[i];

		held->pid = pids[i];
		held->fd = (int)syscall(SYS_pidfd_open, pids[i], 0);
		proc_read_start_time("/proc", pids[i], &held->start_ticks);
		if (!proc_read_status("/proc", pids[i], &status))
			memcpy(held->comm, status.comm, sizeof(held->comm));
	}
}

void held_pids_close(struct held_pids *held)
{
	size_t i;

	for (i = 0; i < held->count; i++)
		if (held->items[i].fd >= 0)
			close(held->items[i].fd);
	free(held->items);
	*held = (struct held_pids){ 0 };
}

static bool held_has_ended(const struct held_pid *held)
{
	struct pollfd end = { .fd = held->fd, .events = POLLIN };
	uint64_t start_ticks = 0;

	if (held->fd >= 0 && poll(&end, 1, 0) > 0)
		return true;
	return held->start_ticks && (proc_read_start_time("/proc", held->pid, &start_ticks) ||
				     start_ticks != held->start_ticks);
}

const struct held_pid *held_pids_ended(const struct held_pids *held, pid_t pid)
{
	size_t i;

	for (i = 0; i < held->count; i++)
		if (held->items[i].pid == pid)
			return held_has_ended(&held->items[i]) ? &held->items[i] : NULL;
	return NULL;
}
