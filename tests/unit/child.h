/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes that a test of the session follows: copies of the test program that do what they are
 * asked to and end with the test, however that ends.
 */
#ifndef TESTS_CHILD_H
#define TESTS_CHILD_H

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/seccomp.h>
#include <unistd.h>

#define CHILD_PATH_MAX 128

enum child_request {
	CHILD_MAP = 1, /* map a page of `path`, executable; the answer is its address */
	CHILD_UNMAP, /* unmap the page that was mapped last */
	CHILD_FORK, /* the answer is the pid of a child, which sleeps */
	CHILD_FORK_AND_EXIT, /* the same, and end: the child is nobody's */
	CHILD_SHARE, /* the same in its own memory, as vfork does */
	CHILD_FILTER, /* have a seccomp filter */
	CHILD_RENAME, /* be called `path` */
};

struct child_message {
	enum child_request request;
	char path[CHILD_PATH_MAX];
};

struct child {
	pid_t pid;
	int control;
};

static int child_control; /* in a child: its end */

/* Until the test closes its end. */
static int child_sleep(void *unused)
{
	struct pollfd closed = { .fd = child_control };

	(void)unused;
	while (poll(&closed, 1, -1) <= 0)
		;
	return 0;
}

static pid_t child_fork(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(child_sleep(NULL));
	return pid;
}

static void *child_page; /* in a child: mapped last */

static uint64_t child_map(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	close(fd);
	child_page = page;
	return (uint64_t)(uintptr_t)page;
}

static pid_t child_share(void)
{
	static char stack[65536] __attribute__((aligned(16)));

	return clone(child_sleep, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);
}

/* Of the kernel's own modes the one that leaves read() and write(). */
static uint64_t child_filter(void)
{
	return (uint64_t)prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
}

static uint64_t child_do(const struct child_message *message)
{
	switch (message->request) {
	case CHILD_MAP:
		return child_map(message->path);
	case CHILD_UNMAP:
		return (uint64_t)munmap(child_page, 4096);
	case CHILD_FORK:
	case CHILD_FORK_AND_EXIT:
		return (uint64_t)child_fork();
	case CHILD_SHARE:
		return (uint64_t)child_share();
	case CHILD_FILTER:
		return child_filter();
	default:
		return (uint64_t)prctl(PR_SET_NAME, message->path, 0, 0, 0);
	}
}

static void child_run(void)
{
	struct child_message message;
	uint64_t answer;

	while (read(child_control, &message, sizeof(message)) == sizeof(message)) {
		answer = child_do(&message);
		if (write(child_control, &answer, sizeof(answer)) < 0 ||
		    message.request == CHILD_FORK_AND_EXIT)
			break;
	}
	/* Not exit_group(), which a filter may forbid. */
	syscall(SYS_exit, 0);
}

/* Start a process that waits for requests. End it with child_end. */
static struct child child_start(void)
{
	struct child child;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	child.pid = fork();
	if (!child.pid) {
		/* Ends of other children: they must not outlive the test. */
		child_control = dup2(ends[1], 3);
		syscall(SYS_close_range, 4, ~0u, 0);
		signal(SIGCHLD, SIG_IGN);
		child_run();
	}
	close(ends[1]);
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	child.control = ends[0];
	assert_true(child.pid > 0);
	return child;
}

static __attribute__((unused)) uint64_t child_ask(const struct child *child,
						  enum child_request request, const char *path)
{
	struct child_message message = { .request = request };
	uint64_t answer = 0;

	strncpy(message.path, path ? path : "", sizeof(message.path) - 1);
	assert_int_equal(write(child->control, &message, sizeof(message)), sizeof(message));
	assert_int_equal(read(child->control, &answer, sizeof(answer)), sizeof(answer));
	return answer;
}

/* End it, what it has started too; returns when it has ended. */
static void child_end(struct child *child)
{
	if (!child->pid)
		return;
	close(child->control);
	kill(child->pid, SIGKILL);
	assert_int_equal(waitpid(child->pid, NULL, 0), child->pid);
	child->pid = 0;
}

#endif
