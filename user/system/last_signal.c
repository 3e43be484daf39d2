/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See last_signal.h. */
#include "system/last_signal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int last_signal_open(struct last_signal *signal, pid_t pid, int number)
{
	int ends[2], code;

	*signal = (struct last_signal){ -1, -1 };
	/* The kernel closes the files of a process that ends from the highest number down: the writing end has the higher one. */
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	*signal = (struct last_signal){ ends[0], ends[1] };
	if (!fcntl(ends[0], F_SETOWN, pid) && !fcntl(ends[0], F_SETSIG, number))
		return 0;
	code = -errno;
	last_signal_close(signal);
	return code;
}

static void last_signal_set(const struct last_signal *signal, int flag)
{
	if (signal->reading >= 0)
		fcntl(signal->reading, F_SETFL, O_NONBLOCK | flag);
}

void last_signal_arm(const struct last_signal *signal)
{
	last_signal_set(signal, O_ASYNC);
}

void last_signal_disarm(const struct last_signal *signal)
{
	last_signal_set(signal, 0);
}

void last_signal_send(const struct last_signal *signal)
{
	if (signal->writing >= 0)
		(void)!TEMP_FAILURE_RETRY(write(signal->writing, "", 1));
}

void last_signal_close(struct last_signal *signal)
{
	last_signal_disarm(signal);
	if (signal->writing >= 0)
		close(signal->writing);
	if (signal->reading >= 0)
		close(signal->reading);
	*signal = (struct last_signal){ -1, -1 };
}
