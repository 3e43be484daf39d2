/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See file_swap.h. */
#include "system/file_swap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "system/output_file.h"

/* Where the process has its descriptors. */
enum swap_fd {
	FD_SOCKET = 3,
	FD_FOLDER,
	FD_COUNT,
};

/* Signals to all processes of the caller are none to it. */
static void swap_prepare(int socket, int folder)
{
	const int high[] = { fcntl(socket, F_DUPFD, FD_COUNT), fcntl(folder, F_DUPFD, FD_COUNT) };
	int number;

	for (number = 1; number < NSIG; number++)
		signal(number, SIG_IGN);
	setpgid(0, 0);
	dup2(high[0], FD_SOCKET);
	dup2(high[1], FD_FOLDER);
	for (number = 0; number < FD_SOCKET; number++)
		close(number);
	closefrom(FD_COUNT);
}

static _Noreturn void swap_live(int socket, int folder, const char *from, const char *to)
{
	int32_t code = -EPIPE;
	char word;

	swap_prepare(socket, folder);
	if (read(FD_SOCKET, &word, 1) == 1)
		code = renameat(FD_FOLDER, from, FD_FOLDER, to) ? -errno : 0;
	if (code)
		unlinkat(FD_FOLDER, from, 0);
	send(FD_SOCKET, &code, sizeof(code), MSG_NOSIGNAL);
	_exit(0);
}

static int swap_fork(struct file_swap *swap, int folder, const char *from, const char *to)
{
	sigset_t all, before;
	int ends[2], code = 0;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (!pid) {
		close(ends[0]);
		swap_live(ends[1], folder, from, to);
	}
	if (pid < 0)
		code = -errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(ends[1]);
	if (code)
		close(ends[0]);
	else
		swap->socket = ends[0];
	return code;
}

static int swap_make(struct file_swap *swap, int folder, const char *name, const char *path,
		     struct error *error)
{
	char *beside = memory_format("%s.%d.new", name, (int)getpid());
	int code = 0;

	swap->fd = output_file_create_in(folder, beside, path, error);
	if (swap->fd < 0)
		code = swap->fd;
	if (!code) {
		code = swap_fork(swap, folder, beside, name);
		if (code)
			error_set(error, ERROR_USAGE, code,
				  "cannot start a process that puts '%s' in its place: %s", path,
				  strerror(-code));
	}
	if (code && swap->fd >= 0) {
		unlinkat(folder, beside, 0);
		close(swap->fd);
		swap->fd = -1;
	}
	free(beside);
	return code;
}

int file_swap_open(struct file_swap *swap, const char *path, struct error *error)
{
	const char *name;
	int folder, code = output_file_find(path, &folder, &name, error);

	*swap = FILE_SWAP_NONE;
	if (code < 0)
		return code;
	if (code) {
		code = swap_make(swap, folder, name, path, error);
	} else {
		swap->fd = output_file_open(path, error);
		code = swap->fd < 0 ? swap->fd : 0;
	}
	close(folder);
	return code;
}

int file_swap_commit(struct file_swap *swap)
{
	int32_t code = -EPIPE;

	if (swap->socket < 0)
		return 0;
	if (fsync(swap->fd))
		code = -errno;
	else if (send(swap->socket, "", 1, MSG_NOSIGNAL) != 1 ||
		 TEMP_FAILURE_RETRY(recv(swap->socket, &code, sizeof(code), MSG_WAITALL)) !=
			 sizeof(code))
		code = -EPIPE;
	close(swap->socket);
	swap->socket = -1;
	return code;
}

void file_swap_close(struct file_swap *swap)
{
	if (swap->socket >= 0)
		close(swap->socket);
	*swap = FILE_SWAP_NONE;
}
