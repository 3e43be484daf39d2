/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See helper.h. */
#include "system/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#define SOCKET (HELPER_FD - 1)

/* Signals to all processes of the caller are none to it. */
static void helper_prepare(int socket, const int *fds, size_t count)
{
	const int end = HELPER_FD + (int)count;
	int high[HELPER_FDS_MAX], number;
	size_t i;

	for (number = 1; number < NSIG; number++)
		signal(number, SIG_IGN);
	setpgid(0, 0);
	socket = fcntl(socket, F_DUPFD, end);
	for (i = 0; i < count; i++)
		high[i] = fcntl(fds[i], F_DUPFD, end);
	dup2(socket, SOCKET);
	for (i = 0; i < count; i++)
		dup2(high[i], HELPER_FD + (int)i);
	for (number = 0; number < SOCKET; number++)
		close(number);
	closefrom(end);
}

static _Noreturn void helper_live(int (*act)(const void *context, bool asked), const void *context)
{
	char word;
	int32_t code = act(context, read(SOCKET, &word, 1) == 1);

	send(SOCKET, &code, sizeof(code), MSG_NOSIGNAL);
	_exit(0);
}

int helper_start(struct helper *helper, const int *fds, size_t count,
		 int (*act)(const void *context, bool asked), const void *context)
{
	sigset_t all, before;
	int ends[2], code = 0;
	pid_t pid;

	*helper = (struct helper){ 0 };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (!pid) {
		close(ends[0]);
		helper_prepare(ends[1], fds, count);
		helper_live(act, context);
	}
	if (pid < 0)
		code = -errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(ends[1]);
	if (code)
		close(ends[0]);
	else
		*helper = (struct helper){ .runs = true, .socket = ends[0] };
	return code;
}

int helper_ask(struct helper *helper)
{
	int32_t code = 0;

	if (!helper->runs)
		return 0;
	if (send(helper->socket, "", 1, MSG_NOSIGNAL) != 1 ||
	    TEMP_FAILURE_RETRY(recv(helper->socket, &code, sizeof(code), MSG_WAITALL)) !=
		    sizeof(code))
		code = -EPIPE;
	helper_close(helper);
	return code;
}

void helper_close(struct helper *helper)
{
	if (helper->runs)
		close(helper->socket);
	*helper = (struct helper){ 0 };
}
