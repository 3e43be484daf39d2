/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See watchdog.h. What it waits for is the end of the caller, whoever else holds the pipe. */
#include "system/watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "system/thread_rest.h"

/* Where its descriptors are. */
enum watchdog_fd {
	FD_PROCESS = 3, /* pidfd of the process that it is for */
	FD_CALLER, /* of who has started it */
	FD_PIPE,
	FD_COUNT,
};

/* The caller requests that the process stops, or goes on. */
#define WORD_STOP 's'
#define WORD_GO 'g'

/* How long the process is waited for that is to go on, in steps; and when the caller itself lets it go on. */
#define GO_STEP_US 100
#define GO_STEPS 20000
#define GO_OWN_STEP 200

/* What stops the process may outlive the caller for so long as the kernel needs to take it out: it goes on once more after these times. */
static const int again_ms[] = { 20, 200, 1000, 5000 };

static int watchdog_open(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : fd;
}

static void watchdog_continue(int process)
{
	syscall(SYS_pidfd_send_signal, process, SIGCONT, NULL, 0);
}

/* The process */

/* Signals to all processes of the caller are none to it. In the caller's session, it may send this one signal to whoever is in that, too. */
static void watchdog_prepare(const int fds[FD_COUNT])
{
	int high[FD_COUNT], number, fd;

	for (number = 1; number < NSIG; number++)
		signal(number, SIG_IGN);
	setpgid(0, 0);
	/* First out of the way of each other. */
	for (fd = FD_PROCESS; fd < FD_COUNT; fd++)
		high[fd] = fcntl(fds[fd], F_DUPFD, FD_COUNT);
	for (fd = FD_PROCESS; fd < FD_COUNT; fd++)
		dup2(high[fd], fd);
	for (fd = 0; fd < FD_PROCESS; fd++)
		close(fd);
	closefrom(FD_COUNT);
}

/* Stopped by others: what stops it may come late. */
static void watchdog_continue_again(void)
{
	struct pollfd ended = { .fd = FD_PROCESS, .events = POLLIN };
	size_t i;

	for (i = 0; i < sizeof(again_ms) / sizeof(again_ms[0]); i++) {
		if (poll(&ended, 1, again_ms[i]))
			break;
		watchdog_continue(FD_PROCESS);
	}
}

static _Noreturn void watchdog_live(const int fds[FD_COUNT], pid_t pid, int stop_ms)
{
	struct pollfd wait[] = { { .fd = FD_PROCESS, .events = POLLIN },
				 { .fd = FD_CALLER, .events = POLLIN },
				 { .fd = FD_PIPE, .events = POLLIN } };
	bool is_stopped = !stop_ms, is_requested = false;
	struct last_signal go;
	char word = 0;
	int count;

	watchdog_prepare(fds);
	last_signal_open(&go, pid, SIGCONT);
	if (is_stopped && !poll(wait, 1, 0))
		last_signal_arm(&go);
	for (;;) {
		count = poll(wait, sizeof(wait) / sizeof(wait[0]),
			     stop_ms && is_stopped ? stop_ms : -1);
		if (count < 0)
			continue;
		if (count && wait[0].revents)
			break;
		is_requested = count && wait[2].revents && read(FD_PIPE, &word, 1) == 1;
		if (!is_requested || word != WORD_STOP)
			break;
		is_stopped = true;
		last_signal_arm(&go);
		syscall(SYS_pidfd_send_signal, FD_PROCESS, SIGSTOP, NULL, 0);
	}
	if (is_stopped)
		watchdog_continue(FD_PROCESS);
	if (!stop_ms && !is_requested)
		watchdog_continue_again();
	last_signal_disarm(&go);
	_exit(0);
}

/* The program */

static int watchdog_fork(const int fds[FD_COUNT], int own_end, pid_t pid, int stop_ms)
{
	sigset_t all, before;
	pid_t child;
	int code = 0;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	child = fork();
	if (!child) {
		close(own_end);
		watchdog_live(fds, pid, stop_ms);
	}
	if (child < 0)
		code = -errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return code;
}

int watchdog_start(struct watchdog *watchdog, pid_t pid, int stop_ms, struct error *error)
{
	int fds[FD_COUNT] = { [FD_PROCESS] = watchdog_open(pid),
			      [FD_CALLER] = watchdog_open(getpid()),
			      [FD_PIPE] = -1 };
	int ends[2] = { -1, -1 }, code = 0;

	*watchdog = WATCHDOG_NONE;
	if (fds[FD_PROCESS] < 0 || fds[FD_CALLER] < 0)
		code = fds[FD_PROCESS] < 0 ? fds[FD_PROCESS] : fds[FD_CALLER];
	else if (pipe2(ends, O_CLOEXEC))
		code = -errno;
	fds[FD_PIPE] = ends[0];
	if (!code)
		code = watchdog_fork(fds, ends[1], pid, stop_ms);
	if (!code)
		code = last_signal_open(&watchdog->go, pid, SIGCONT);
	if (ends[0] >= 0)
		close(ends[0]);
	if (fds[FD_CALLER] >= 0)
		close(fds[FD_CALLER]);
	watchdog->pipe = ends[1];
	watchdog->process = fds[FD_PROCESS];
	watchdog->pid = pid;
	watchdog->may_have_stopped = !code && !stop_ms;
	if (watchdog->may_have_stopped)
		last_signal_arm(&watchdog->go);
	if (!code)
		return 0;
	watchdog_close(watchdog);
	return error_set(error, ERROR_PERMISSION, code,
			 "cannot start a process that lets a stopped one go on: %s",
			 strerror(-code));
}

void watchdog_stop(struct watchdog *watchdog)
{
	const char word = WORD_STOP;

	if (watchdog->pipe < 0 || watchdog_wait_end(watchdog, 0))
		return;
	watchdog->may_have_stopped = true;
	last_signal_arm(&watchdog->go);
	/* Where nobody takes it, the process just goes on. */
	(void)!TEMP_FAILURE_RETRY(write(watchdog->pipe, &word, 1));
}

/* The watchdog may have been ended, or stopped, by somebody else. */
static bool watchdog_wait_go(const struct watchdog *watchdog)
{
	int step;

	for (step = 0; thread_rest_is_held("/proc", watchdog->pid); step++) {
		if (step == GO_STEPS)
			return false;
		if (step == GO_OWN_STEP)
			last_signal_send(&watchdog->go);
		usleep(GO_STEP_US);
	}
	return true;
}

bool watchdog_let_go(struct watchdog *watchdog)
{
	const char word = WORD_GO;
	bool goes_on;

	if (watchdog->pipe < 0)
		return true;
	if (TEMP_FAILURE_RETRY(write(watchdog->pipe, &word, 1)) != 1)
		last_signal_send(&watchdog->go);
	close(watchdog->pipe);
	watchdog->pipe = -1;
	goes_on = !watchdog->may_have_stopped || watchdog_wait_go(watchdog);
	last_signal_close(&watchdog->go);
	return goes_on;
}

bool watchdog_wait_end(const struct watchdog *watchdog, int wait_ms)
{
	struct pollfd wait = { .fd = watchdog->process, .events = POLLIN };

	return poll(&wait, 1, wait_ms) > 0;
}

void watchdog_close(struct watchdog *watchdog)
{
	watchdog_let_go(watchdog);
	last_signal_close(&watchdog->go);
	if (watchdog->process >= 0)
		close(watchdog->process);
	watchdog->process = -1;
}
