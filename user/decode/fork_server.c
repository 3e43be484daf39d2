/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process that starts workers: see fork_server.h. */
#include "decode/fork_server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "decode/protocol.h"
#include "decode/sandbox.h"
#include "system/cgroup.h"
#include "system/cgroup_memory.h"

/* The name under which the program is a fork server, and where its socket is. */
#define SERVER_NAME "tracer-server"
#define SERVER_SOCKET 3

/* A server or a worker that does not answer within this time is gone. */
#define ANSWER_MS 10000
#define STOP_MS 500
#define STOP_STEP_MS 1

/* A worker has so much memory, but no more than a share of what the tracer may use with all its processes. */
#define MEMORY_MAX ((uint64_t)1 << 30)
#define MEMORY_SHARE 4

/* One that the kernel does not let go is left behind. */
static void fork_server_end_worker(pid_t worker)
{
	const struct timespec step = { .tv_nsec = STOP_STEP_MS * 1000000L };
	int64_t deadline_ms = clock_now_ms() + STOP_MS;

	if (worker <= 0)
		return;
	kill(worker, SIGKILL);
	while (waitpid(worker, NULL, WNOHANG) == 0 && clock_now_ms() < deadline_ms)
		nanosleep(&step, NULL);
}

/* Answers READY when it can do no harm, and is one that must not read anything otherwise. */
static _Noreturn void worker_main(int socket, pid_t server, uint64_t memory,
				  void (*work)(int socket))
{
	struct message ready = { .kind = MESSAGE_READY };

	close(SERVER_SOCKET);
	prctl(PR_SET_NAME, "tracer-decoder", 0, 0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != server)
		_exit(0);
	ready.detail = (uint32_t)-sandbox_seal(memory);
	if (message_send(socket, &ready, -1) || ready.detail)
		_exit(0);
	work(socket);
	_exit(0);
}

/* Returns the pid of a new worker, with the other end of its socket in `*ret_socket`, or -1. */
static pid_t fork_server_fork_worker(uint64_t memory, void (*work)(int socket), int *ret_socket)
{
	pid_t server = getpid(), worker;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -1;
	worker = fork();
	if (!worker) {
		close(ends[0]);
		worker_main(ends[1], server, memory, work);
	}
	close(ends[1]);
	if (worker < 0)
		close(ends[0]);
	else
		*ret_socket = ends[0];
	return worker;
}

void fork_server_main(char *const *arguments, void (*work)(int socket))
{
	struct message message;
	pid_t worker = 0;
	int end;

	if (!arguments[0] || strcmp(arguments[0], SERVER_NAME) != 0)
		return;
	fcntl(SERVER_SOCKET, F_SETFD, FD_CLOEXEC);
	sandbox_enter(SERVER_NAME);
	while (!message_receive(SERVER_SOCKET, &message, NULL, -1) &&
	       message.kind == MESSAGE_START) {
		fork_server_end_worker(worker);
		end = -1;
		worker = fork_server_fork_worker(message.number, work, &end);
		message = (struct message){ .kind = MESSAGE_STARTED };
		message_send(SERVER_SOCKET, &message, end);
		if (end >= 0)
			close(end);
	}
	fork_server_end_worker(worker);
	_exit(0);
}

/* As fork(), but with namespaces of its own where that is allowed. Between it and the exec there are system calls only. */
static pid_t fork_server_fork(void)
{
	const unsigned long *spaces = sandbox_spaces;
	long child;

	do
		child = syscall(SYS_clone, *spaces | SIGCHLD, 0, 0, 0, 0);
	while (child < 0 && *spaces++);
	return (pid_t)child;
}

static void fork_server_exec(int socket, unsigned int user)
{
	char name[] = SERVER_NAME;
	char *arguments[] = { name, NULL }, *environment[] = { NULL };

	sandbox_prepare(socket, user);
	execve("/proc/self/exe", arguments, environment);
	_exit(127);
}

int fork_server_start(struct fork_server *server)
{
	unsigned int user = geteuid();
	uint64_t memory = cgroup_memory_limit("/proc", CGROUP_ROOT) / MEMORY_SHARE;
	int ends[2], code;
	pid_t pid;

	*server = (struct fork_server){ .socket = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = fork_server_fork();
	if (!pid)
		fork_server_exec(ends[1], user);
	code = pid < 0 ? -errno : 0;
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return code;
	}
	*server = (struct fork_server){ pid, ends[0], memory < MEMORY_MAX ? memory : MEMORY_MAX };
	return 0;
}

/* The first word of a worker. */
static int worker_check(int socket, struct patience *patience, int64_t deadline_ms)
{
	struct message message;
	int code = patience_wait(patience, socket, deadline_ms);

	if (!code)
		code = message_receive(socket, &message, NULL, -1);
	if (!code && message.kind != MESSAGE_READY)
		code = -EPROTO;
	return code ? code : message.detail ? -EPERM : 0;
}

int fork_server_renew(struct fork_server *server, struct patience *patience)
{
	struct message message = { .kind = MESSAGE_START, .number = server->memory };
	int64_t deadline_ms = patience_now_ms(patience) + ANSWER_MS;
	int fd = -1, code;

	if (server->socket < 0)
		return -ESRCH;
	code = message_post(server->socket, &message, -1);
	if (!code)
		code = patience_wait(patience, server->socket, deadline_ms);
	if (!code)
		code = message_receive(server->socket, &message, &fd, -1);
	if (!code && (message.kind != MESSAGE_STARTED || fd < 0))
		code = -EAGAIN;
	if (!code)
		code = worker_check(fd, patience, deadline_ms);
	if (code) {
		if (fd >= 0)
			close(fd);
		return code;
	}
	patience_watch_child(patience, server->pid);
	return fd;
}

void fork_server_stop(struct fork_server *server)
{
	const struct timespec step = { .tv_nsec = STOP_STEP_MS * 1000000L };
	int64_t deadline_ms = clock_now_ms() + STOP_MS;

	if (server->socket >= 0)
		close(server->socket);

	while (server->pid > 0 && waitpid(server->pid, NULL, WNOHANG) == 0 &&
	       clock_now_ms() < deadline_ms)
		nanosleep(&step, NULL);
	*server = (struct fork_server){ .socket = -1 };
}
