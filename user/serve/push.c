/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See push.h. What is pushed is a file in memory, whose descriptor is sent: that waits for nobody. */
#include "serve/push.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "serve/push_request.h"
#include "system/privilege.h"
#include "system/seccomp.h"

/* Where its end of the socket is. */
#define SOCKET 3

/* All that it takes to push. */
static const struct seccomp_rule push_calls[] = {
	{ SYS_socket, 1, UINT32_MAX, AF_INET },
	{ SYS_socket, 1, UINT32_MAX, AF_INET6 },
	{ SYS_connect },
	{ SYS_getsockopt },
#ifdef SYS_poll
	{ SYS_poll },
#endif
	{ SYS_ppoll },
	{ SYS_sendto },
	{ SYS_recvfrom },
	{ SYS_sendmsg },
	{ SYS_recvmsg },
	{ SYS_read },
	{ SYS_write },
	{ SYS_lseek },
	{ SYS_close },
	{ SYS_clock_gettime },
	{ SYS_restart_syscall },
	{ SYS_rt_sigreturn },
	{ SYS_exit_group },
};

/* The process */

/* What ends the tracer, or asks it for something, may be sent to all its processes: this one ends with it. */
static void push_prepare(int socket)
{
	int number, fd, null;

	for (number = 1; number < NSIG; number++)
		signal(number, SIG_IGN);
	setsid();
	prctl(PR_SET_NAME, "tracer-push", 0, 0, 0);
	dup2(socket, SOCKET);
	closefrom(SOCKET + 1);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (fd = 0; null >= 0 && fd < SOCKET; fd++)
		dup2(null, fd);
	close(null);
}

/* Returns 0 or a negative errno. */
static int push_confine(void)
{
	privileges_drop_all(privileges_unused_user());
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return -errno;
	return seccomp_install(push_calls, sizeof(push_calls) / sizeof(push_calls[0]), true);
}

/* The next file to push, or a negative errno. */
static int push_receive(void)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	char word;
	struct iovec part = { &word, sizeof(word) };
	struct msghdr packet = { .msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control) };
	ssize_t size = TEMP_FAILURE_RETRY(recvmsg(SOCKET, &packet, MSG_CMSG_CLOEXEC));
	struct cmsghdr *header = size > 0 ? CMSG_FIRSTHDR(&packet) : NULL;
	int fd = -EPIPE;

	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(header), sizeof(int));
	return fd;
}

static bool push_answer(const struct push_answer *answer)
{
	return send(SOCKET, answer, sizeof(*answer), MSG_NOSIGNAL) == sizeof(*answer);
}

static _Noreturn void push_live(const struct push_url *url, int limit_ms, int socket)
{
	struct push_answer answer = { 0 };
	int body;

	push_prepare(socket);
	answer.code = push_confine();
	/* The first answer is that it can begin. */
	if (push_answer(&answer) && !answer.code)
		while ((body = push_receive()) >= 0) {
			answer = push_request_run(url, body, limit_ms);
			close(body);
			if (!push_answer(&answer))
				break;
		}
	_exit(0);
}

/* The program */

static int push_fork(struct push *push, const struct push_url *url, int limit_ms)
{
	struct push_answer first;
	sigset_t all, before;
	int ends[2], code = 0;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (!pid)
		push_live(url, limit_ms, ends[1]);
	if (pid < 0)
		code = -errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(ends[1]);
	push->socket = ends[0];
	if (!code && recv(push->socket, &first, sizeof(first), 0) != sizeof(first))
		code = -EPIPE;
	return code ? code : first.code;
}

int push_start(struct push *push, const struct push_url *url, int limit_ms, struct error *error)
{
	int code;

	push->socket = -1;
	code = push_fork(push, url, limit_ms);
	if (!code)
		return 0;
	push_close(push);
	return error_set(error, ERROR_PERMISSION, code, "cannot start the process that pushes: %s",
			 strerror(-code));
}

static int push_write(int fd, const struct buffer *body)
{
	size_t done = 0;
	ssize_t size;

	while (done < body->length) {
		size = TEMP_FAILURE_RETRY(write(fd, body->data + done, body->length - done));
		if (size <= 0)
			return size ? -errno : -EIO;
		done += (size_t)size;
	}
	return 0;
}

static int push_pass(const struct push *push, int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = { 0 };
	char word = 0;
	struct iovec part = { &word, sizeof(word) };
	struct msghdr packet = { .msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&packet);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(int));
	return sendmsg(push->socket, &packet, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

int push_send(struct push *push, const struct buffer *body)
{
	const int fd = memfd_create("tracer-push", MFD_CLOEXEC);
	int code = fd < 0 ? -errno : push_write(fd, body);

	if (!code)
		code = push_pass(push, fd);
	if (fd >= 0)
		close(fd);
	return code;
}

int push_take(struct push *push, struct push_answer *answer)
{
	const ssize_t size = recv(push->socket, answer, sizeof(*answer), MSG_DONTWAIT);

	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return size == sizeof(*answer) ? 1 : -EPIPE;
}

void push_close(struct push *push)
{
	if (push->socket >= 0)
		close(push->socket);
	push->socket = -1;
}
