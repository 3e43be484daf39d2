/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See mark_key.h. */
#include "command/mark_key.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* A terminal has no longer lines. */
#define LINE_MAX_BYTES 4096

int mark_key_open(void)
{
	if (!isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) != getpgrp())
		return -1;
	/* Opened anew, so that whoever shares standard input does not get one that does not wait. */
	return open("/proc/self/fd/0", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* Who has gone to the background since it looked would be stopped by a read: this one fails. */
static ssize_t key_read(int fd, char *line, size_t size)
{
	sigset_t stop, before;
	ssize_t length;
	int code;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTTIN);
	pthread_sigmask(SIG_BLOCK, &stop, &before);
	length = read(fd, line, size);
	code = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = code;
	return length;
}

enum mark_key_press mark_key_take(int fd, char name[MARKER_NAME_MAX + 1])
{
	char line[LINE_MAX_BYTES + 1];
	ssize_t length;

	if (tcgetpgrp(fd) != getpgrp())
		return MARK_KEY_GONE;
	length = key_read(fd, line, LINE_MAX_BYTES);
	if (length < 0)
		return errno == EAGAIN || errno == EINTR ? MARK_KEY_NONE : MARK_KEY_GONE;
	/* Ctrl-D at the begin of a line, or the end of the terminal. */
	if (!length)
		return MARK_KEY_GONE;
	/* Ctrl-D within a line ends none. */
	if (line[length - 1] != '\n')
		return MARK_KEY_NONE;
	line[length - 1] = '\0';
	if (length == 1)
		return MARK_KEY_NAMELESS;
	if (strlen(line) != (size_t)length - 1 || !marker_is_name(line))
		return MARK_KEY_BAD_NAME;
	memcpy(name, line, (size_t)length);
	return MARK_KEY_NAMED;
}
