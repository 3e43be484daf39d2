/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process that starts workers: see fork_server.h. */
#include "decode/fork_server.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "decode/protocol.h"
#include "decode/sandbox.h"

/* A server that does not answer within this time is gone. */
#define ANSWER_MS 10000

static void fork_server_end_worker(pid_t worker)
{
	if (worker <= 0)
		return;
	kill(worker, SIGKILL);
	while (waitpid(worker, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Returns the pid of a new worker, with the other end of its socket in `*ret_socket`, or -1. */
static pid_t fork_server_fork_worker(void (*work)(int socket), int *ret_socket)
{
	int ends[2];
	pid_t worker;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -1;
	worker = fork();
	if (!worker) {
		sandbox_enter("tracer-symbols", ends[1]);
		sandbox_seal();
		work(ends[1]);
		_exit(0);
	}
	close(ends[1]);
	if (worker < 0)
		close(ends[0]);
	else
		*ret_socket = ends[0];
	return worker;
}

static void fork_server_run(int socket, void (*work)(int socket))
{
	struct message message;
	pid_t worker = 0;
	int end;

	while (!message_receive(socket, &message, NULL, -1) && message.kind == MESSAGE_START) {
		fork_server_end_worker(worker);
		end = -1;
		worker = fork_server_fork_worker(work, &end);
		message = (struct message){ .kind = MESSAGE_STARTED };
		message.number = worker > 0 ? (uint64_t)worker : 0;
		message_send(socket, &message, end);
		if (end >= 0)
			close(end);
	}
	fork_server_end_worker(worker);
	_exit(0);
}

int fork_server_start(struct fork_server *server, void (*work)(int socket))
{
	int ends[2], code;
	pid_t pid;

	*server = (struct fork_server){ .socket = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = fork();
	if (!pid) {
		sandbox_enter("tracer-server", ends[1]);
		fork_server_run(ends[1], work);
	}
	code = pid < 0 ? -errno : 0;
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return code;
	}
	*server = (struct fork_server){ pid, ends[0] };
	return 0;
}

int fork_server_renew(struct fork_server *server, pid_t *ret_pid)
{
	struct message message = { .kind = MESSAGE_START };
	int fd = -1, code;

	if (server->socket < 0)
		return -ESRCH;
	code = message_send(server->socket, &message, -1);
	if (!code)
		code = message_receive(server->socket, &message, &fd,
				       message_clock_ms() + ANSWER_MS);
	if (!code && (message.kind != MESSAGE_STARTED || fd < 0))
		code = -EAGAIN;
	if (code) {
		if (fd >= 0)
			close(fd);
		return code;
	}
	*ret_pid = (pid_t)message.number;
	return fd;
}

void fork_server_stop(struct fork_server *server)
{
	if (server->socket >= 0)
		close(server->socket);
	if (server->pid > 0)
		while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
			;
	*server = (struct fork_server){ .socket = -1 };
}
