/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See runner.h. */
#include "system/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "system/end_signals.h"
#include "system/output_file.h"
#include "system/privilege.h"

/* Names that are tried. */
#define FILES_MAX 1000000
/* How often it is asked whether the program is to end. */
#define LOOK_MS 100

/* Where its end of the socket is. */
#define SOCKET 3

#define STATUS_NOT_STARTED 127

enum runner_word {
	RUNNER_MAKE,
	RUNNER_RUN,
};

/* A request, and its answer, of which `code` is 0 or a negative errno. A file comes with its answer. */
struct runner_message {
	uint32_t word, number;
	int32_t code;
};

/* The process's own state. */
struct runner_life {
	const struct runner_options *options;
	char *path; /* of the file that was made last; owned */
	uint32_t number;
};

static int runner_send(int socket, const struct runner_message *message, int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec part = { (void *)(uintptr_t)message, sizeof(*message) };
	struct msghdr packet = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *header;

	if (fd >= 0) {
		packet.msg_control = control;
		packet.msg_controllen = sizeof(control);
		header = CMSG_FIRSTHDR(&packet);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &fd, sizeof(int));
	}
	return TEMP_FAILURE_RETRY(sendmsg(socket, &packet, MSG_NOSIGNAL)) < 0 ? -errno : 0;
}

static int runner_receive(int socket, struct runner_message *message, int *ret_fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec part = { message, sizeof(*message) };
	struct msghdr packet = { .msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control) };
	ssize_t size = TEMP_FAILURE_RETRY(recvmsg(socket, &packet, MSG_CMSG_CLOEXEC));
	struct cmsghdr *header;

	*ret_fd = -1;
	if (size != sizeof(*message))
		return size < 0 ? -errno : -EPIPE;
	header = CMSG_FIRSTHDR(&packet);
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(header), sizeof(int));
	return 0;
}

/* The process */

static int runner_next_file(struct runner_life *life)
{
	int fd = -EEXIST;

	while (fd == -EEXIST && life->number < FILES_MAX) {
		free(life->path);
		life->path = memory_format("%s.%u", life->options->path, ++life->number);
		fd = output_file_create(life->path, NULL);
	}
	return fd;
}

static void runner_answer_file(struct runner_life *life)
{
	int fd = runner_next_file(life);
	struct runner_message answer = { .word = RUNNER_MAKE,
					 .number = life->number,
					 .code = fd < 0 ? fd : 0 };

	if (runner_send(SOCKET, &answer, fd))
		_exit(0);
	if (fd >= 0)
		close(fd);
}

static _Noreturn void runner_execute(const struct runner_life *life, const char *path,
				     const char *reason)
{
	char *const arguments[] = { (char *)"sh",
				    (char *)"-c",
				    (char *)(uintptr_t)life->options->command,
				    (char *)"tracer",
				    (char *)(uintptr_t)path,
				    NULL };

	setenv("TRACER_REPORT", path, 1);
	setenv("TRACER_TRIGGER", reason, 1);
	/* What cannot be given up is nothing that the tracer itself would keep from its user. */
	privileges_drop(false);
	privileges_hand_on_none();
	spawn_signals_restore(life->options->signals);
	execv(_PATH_BSHELL, arguments);
	_exit(STATUS_NOT_STARTED);
}

/* No request comes while the command runs. */
static void runner_answer_run(const struct runner_life *life, uint32_t reason)
{
	const char *path = life->options->makes_files ? life->path : life->options->path;
	struct runner_message answer = { .word = RUNNER_RUN, .code = -EINVAL };
	int status = 0;
	pid_t pid;

	if (path && reason < life->options->reason_count) {
		pid = fork();
		if (!pid)
			runner_execute(life, path, life->options->reasons[reason]);
		answer.code = pid < 0 ? -errno : 0;
		if (pid > 0 && TEMP_FAILURE_RETRY(waitpid(pid, &status, 0)) != pid)
			answer.code = -errno;
	}
	answer.number = (uint32_t)status;
	if (runner_send(SOCKET, &answer, -1))
		_exit(0);
}

/* What ends the tracer, or asks it for something, may be sent to all its processes: this one ends with it. */
static void runner_prepare(int socket)
{
	int number, null;

	for (number = 1; number < NSIG; number++)
		signal(number, number == SIGCHLD ? SIG_DFL : SIG_IGN);
	setsid();
	dup2(socket, SOCKET);
	closefrom(SOCKET + 1);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0)
		dup2(null, STDIN_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	if (null > SOCKET)
		close(null);
	fcntl(SOCKET, F_SETFD, FD_CLOEXEC);
}

static _Noreturn void runner_live(const struct runner_options *options, int socket)
{
	struct runner_life life = { .options = options };
	struct runner_message request;
	int fd;

	runner_prepare(socket);
	while (!runner_receive(SOCKET, &request, &fd)) {
		if (fd >= 0)
			close(fd);
		if (request.word == RUNNER_MAKE && options->makes_files)
			runner_answer_file(&life);
		else if (request.word == RUNNER_RUN)
			runner_answer_run(&life, request.number);
		else
			break;
	}
	_exit(0);
}

/* The program */

int runner_start(struct runner *runner, const struct runner_options *options, struct error *error)
{
	sigset_t all, before;
	int ends[2], code = 0;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return error_set(error, ERROR_PERMISSION, -errno, "cannot start a process: %s",
				 strerror(errno));
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (!pid)
		runner_live(options, ends[1]);
	if (pid < 0)
		code = -errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(ends[1]);
	if (code) {
		close(ends[0]);
		return error_set(error, ERROR_PERMISSION, code, "cannot start a process: %s",
				 strerror(-code));
	}
	runner->socket = ends[0];
	return 0;
}

/* Whoever waits for a file that is not made, on a server that is gone, can still be ended. */
static int runner_wait(const struct runner *runner)
{
	struct pollfd wait = { .fd = runner->socket, .events = POLLIN };

	while (!poll(&wait, 1, LOOK_MS))
		if (end_signals_are_pending())
			return -EINTR;
	return 0;
}

int runner_make_file(struct runner *runner, uint32_t *ret_number, struct error *error)
{
	struct runner_message message = { .word = RUNNER_MAKE };
	int fd = -1, code = runner_send(runner->socket, &message, -1);

	if (!code)
		code = runner_wait(runner);
	if (!code)
		code = runner_receive(runner->socket, &message, &fd);
	if (!code)
		code = message.code;
	if (!code && fd < 0)
		code = -EPROTO;
	if (code)
		return error_set(error, ERROR_PERMISSION, code,
				 "cannot make a file for the report of a trigger: %s",
				 strerror(-code));
	*ret_number = message.number;
	return fd;
}

int runner_run(struct runner *runner, size_t reason)
{
	struct runner_message message = { .word = RUNNER_RUN, .number = (uint32_t)reason };

	return runner_send(runner->socket, &message, -1);
}

int runner_take_end(struct runner *runner, int wait_ms, int *ret_status)
{
	struct pollfd wait = { .fd = runner->socket, .events = POLLIN };
	struct runner_message message;
	int fd, code;

	if (poll(&wait, 1, wait_ms) <= 0)
		return 0;
	code = runner_receive(runner->socket, &message, &fd);
	if (fd >= 0)
		close(fd);
	if (!code)
		code = message.code;
	if (code)
		return code;
	*ret_status = (int)message.number;
	return 1;
}

void runner_close(struct runner *runner)
{
	if (runner->socket >= 0)
		close(runner->socket);
	runner->socket = -1;
}
