/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A loader in a child process: see loader_run.h. */
#include "system/loader_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/deadline.h"
#include "base/memory.h"
#include "system/privilege.h"

#define OUTPUT_MAX (4u << 20)

/* Of the environment, what makes the loader print something else. Search paths and preloads stay. */
static bool loader_keeps(const char *variable)
{
	static const char *const dropped[] = { "LD_DEBUG=", "LD_DEBUG_OUTPUT=", "LD_VERBOSE=",
					       "LD_SHOW_AUXV=", "LD_TRACE_LOADED_OBJECTS=" };
	size_t i;

	for (i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++)
		if (strncmp(variable, dropped[i], strlen(dropped[i])) == 0)
			return false;
	return true;
}

/* An array of the caller's; the strings are those of the environment. */
static char **loader_environment(void)
{
	size_t count = 0, kept = 0, i;
	char **variables;

	while (environ && environ[count])
		count++;
	variables = memory_alloc(count + 1, sizeof(*variables));
	for (i = 0; i < count; i++)
		if (loader_keeps(environ[i]))
			variables[kept++] = environ[i];
	return variables;
}

/* Its output, on stdout and stderr, goes to `output`. Descriptors may be below 3 where the caller lacks some. */
static void loader_redirect(int output)
{
	int high = fcntl(output, F_DUPFD_CLOEXEC, 3), null;

	dup2(high, 1);
	dup2(high, 2);
	close(0);
	null = open("/dev/null", O_RDONLY);
	if (null > 0)
		dup2(null, 0);
}

/* In a session of its own it has no terminal to type on. */
static _Noreturn void loader_exec(const struct loader_child *child, char *const arguments[],
				  char *const variables[], int output, int failure)
{
	sigset_t none;
	int code;

	failure = fcntl(failure, F_DUPFD_CLOEXEC, 3);
	loader_redirect(output);
	setsid();
	privileges_hand_on_none();
	code = child->user ? user_become(child->user) : 0;
	if (!code && child->user && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		code = -errno;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (!code) {
		execve(child->interpreter, arguments, variables);
		code = -errno;
	}
	if (write(failure, &code, sizeof(code)) != sizeof(code))
		_exit(1);
	_exit(1);
}

/* Returns 0 once the loader runs, or a negative errno. */
static int loader_start(const struct loader_child *child, int output, pid_t *ret_pid)
{
	char *arguments[] = { (char *)child->interpreter, (char *)"--list", (char *)child->program,
			      NULL };
	char **variables = loader_environment();
	sigset_t all, before;
	int failure[2], code = 0;

	if (pipe2(failure, O_CLOEXEC)) {
		free(variables);
		return -errno;
	}
	/* No handler of the tracer runs in the child. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	*ret_pid = fork();
	if (*ret_pid == 0)
		loader_exec(child, arguments, variables, output, failure[1]);
	if (*ret_pid < 0)
		code = -errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(failure[1]);
	if (!code && TEMP_FAILURE_RETRY(read(failure[0], &code, sizeof(code))) == sizeof(code))
		TEMP_FAILURE_RETRY(waitpid(*ret_pid, NULL, 0));
	close(failure[0]);
	free(variables);
	return code;
}

/* Until its end or the time limit. */
static int loader_collect(int input, uint64_t deadline_ns, struct buffer *output)
{
	struct pollfd poll_input = { .fd = input, .events = POLLIN };
	char chunk[4096];
	ssize_t got = 1;
	int ready;

	while (got > 0) {
		ready = poll(&poll_input, 1, deadline_poll_ms(deadline_ns));
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			return ready ? -errno : -ETIMEDOUT;
		got = TEMP_FAILURE_RETRY(read(input, chunk, sizeof(chunk)));
		if (got < 0)
			return -errno;
		buffer_append(output, chunk, (size_t)got);
		if (output->length > OUTPUT_MAX)
			return -EFBIG;
	}
	return 0;
}

/* The output's end is not the process's: it may have closed it and run on. */
static int loader_wait(pid_t pid, uint64_t deadline_ns)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	pid_t ended;
	int status;

	while ((ended = TEMP_FAILURE_RETRY(waitpid(pid, &status, WNOHANG))) == 0) {
		if (deadline_has_passed(deadline_ns))
			return -ETIMEDOUT;
		nanosleep(&pause, NULL);
	}
	/* With SIGCHLD ignored the status is lost; then the output alone is checked. */
	if (ended < 0)
		return 0;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}

static void loader_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	TEMP_FAILURE_RETRY(waitpid(pid, NULL, 0));
}

int loader_run(const struct loader_child *child, int timeout_ms, struct buffer *output)
{
	uint64_t deadline_ns = deadline_in_ms(timeout_ms);
	int ends[2], status;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	status = loader_start(child, ends[1], &pid);
	close(ends[1]);
	if (!status) {
		status = loader_collect(ends[0], deadline_ns, output);
		if (!status)
			status = loader_wait(pid, deadline_ns);
		if (status < 0)
			loader_kill(pid);
	}
	close(ends[0]);
	return status;
}
