/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Held children: see spawn.h. A socket holds the child: one byte on it means go, or that the child is to have mounts of
 * its own, and its end means that the tracer has died. A pipe that closes on exec carries the errno of a failed exec.
 */
#include "system/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "system/privilege.h"
#include "system/user.h"

/* What the tracer asks of a held child. */
#define WORD_GO 'g'
#define WORD_APART 'a'

/* A shell's exit statuses for a command that it could not start. */
#define STATUS_NOT_STARTED 127

/* 0 if execvp would run this file, otherwise the negative errno for which it would try the next one. */
static int spawn_check_file(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) ? -errno : 0;
}

/* One element of PATH; the empty one is the working directory. */
static char *spawn_join(const char *folder, size_t length, const char *command)
{
	return length ? memory_format("%.*s/%s", (int)length, folder, command)
		      : memory_format("./%s", command);
}

static char *spawn_search(const char *command, int *ret_status)
{
	const char *at = getenv("PATH");
	int status = -ENOENT, result;

	for (at = at ? at : "/bin:/usr/bin"; at; at = *at ? at + 1 : NULL) {
		size_t length = strcspn(at, ":");
		char *path = spawn_join(at, length, command);

		result = spawn_check_file(path);
		if (!result)
			return path;
		free(path);
		/* A file without permission is the better explanation. */
		if (result == -EACCES)
			status = result;
		at += length;
	}
	*ret_status = status;
	return NULL;
}

/* What is missing may also be the interpreter of a script. */
static enum error_kind spawn_kind(int code)
{
	return code == -ENOENT ? ERROR_NOT_FOUND : ERROR_NOT_EXECUTABLE;
}

char *spawn_find(const char *command, struct error *error)
{
	bool search = !strchr(command, '/');
	char *path = NULL;
	int status = -ENOENT;

	if (!search)
		status = spawn_check_file(command);
	else if (*command)
		path = spawn_search(command, &status);
	if (!status)
		path = memory_copy_string(command);
	if (!path)
		error_set(error, spawn_kind(status), status, "cannot run %s: %s", command,
			  search && status == -ENOENT ? "command not found" : strerror(-status));
	return path;
}

void spawn_signals_save(struct spawn_signals *ret_signals)
{
	struct sigaction action;
	int number;

	sigprocmask(SIG_SETMASK, NULL, &ret_signals->mask);
	sigemptyset(&ret_signals->ignored);
	for (number = 1; number < NSIG; number++)
		if (!sigaction(number, NULL, &action) && !(action.sa_flags & SA_SIGINFO) &&
		    action.sa_handler == SIG_IGN)
			sigaddset(&ret_signals->ignored, number);
}

void spawn_signals_restore(const struct spawn_signals *signals)
{
	struct sigaction action = { 0 };
	int number;

	for (number = 1; number < NSIG; number++) {
		action.sa_handler = sigismember(&signals->ignored, number) == 1 ? SIG_IGN : SIG_DFL;
		sigaction(number, &action, NULL);
	}
	sigprocmask(SIG_SETMASK, &signals->mask, NULL);
}

static void spawn_exec(const char *path, char *const arguments[], char **shell_arguments)
{
	execve(path, arguments, environ);
	if (errno == ENOEXEC)
		execve(_PATH_BSHELL, shell_arguments, environ);
}

/* Wait until the program is to be executed. */
static void spawn_wait(int hold)
{
	char word;
	int code;

	while (TEMP_FAILURE_RETRY(read(hold, &word, 1)) == 1) {
		if (word == WORD_GO)
			return;
		code = unshare(CLONE_NEWNS) ? -errno : 0;
		if (send(hold, &code, sizeof(code), MSG_NOSIGNAL) != sizeof(code))
			break;
	}
	_exit(STATUS_NOT_STARTED);
}

static void spawn_leave_terminal(void)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int fd;

	for (fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		if (isatty(fd))
			dup2(null, fd);
}

static _Noreturn void spawn_child(const struct spawn *spawn, const struct user *user,
				  char *const arguments[], char **shell_arguments, int hold,
				  int failure)
{
	int code;

	spawn_wait(hold);
	if (spawn->no_terminal)
		spawn_leave_terminal();
	/* The tracer's capabilities are not the command's, and a negative errno is not of its exec. */
	privileges_hand_on_none();
	code = spawn->user ? user_become(user) : 0;
	if (!code) {
		spawn_exec(spawn->path, arguments, shell_arguments);
		code = errno;
	}
	if (write(failure, &code, sizeof(code)) != sizeof(code))
		_exit(STATUS_NOT_STARTED);
	_exit(STATUS_NOT_STARTED);
}

/* "sh PATH ARGUMENT...": made before the fork, where memory may be allocated. */
static char **spawn_shell_arguments(char *path, char *const arguments[])
{
	size_t count = 0;
	char **shell;

	while (arguments[count])
		count++;
	shell = memory_alloc(count + 2, sizeof(*shell));
	shell[0] = (char *)_PATH_BSHELL;
	shell[1] = path;
	if (count > 1)
		memcpy(shell + 2, arguments + 1, (count - 1) * sizeof(*shell));
	return shell;
}

/* The child never returns from here. */
static pid_t spawn_fork(const struct spawn *spawn, const struct user *user, char *const arguments[],
			const int hold[2], const int failure[2])
{
	char **shell = spawn_shell_arguments(spawn->path, arguments);
	struct spawn_signals signals;
	sigset_t all, before;
	pid_t pid;

	spawn_signals_save(&signals);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0) {
		close(hold[1]);
		close(failure[0]);
		spawn_signals_restore(spawn->signals ? spawn->signals : &signals);
		spawn_child(spawn, user, arguments, shell, hold[0], failure[1]);
	}
	if (pid < 0)
		pid = -errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	free(shell);
	return pid;
}

static void spawn_watch_children(void)
{
	struct sigaction action;

	if (sigaction(SIGCHLD, NULL, &action) || action.sa_flags & SA_SIGINFO ||
	    (action.sa_handler != SIG_IGN && !(action.sa_flags & SA_NOCLDWAIT)))
		return;
	action.sa_flags &= ~SA_NOCLDWAIT;
	if (action.sa_handler == SIG_IGN)
		action.sa_handler = SIG_DFL;
	sigaction(SIGCHLD, &action, NULL);
}

static void spawn_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int spawn_hold(struct spawn *spawn, char *const arguments[], struct error *error)
{
	struct spawn held = { .signals = spawn->signals,
			      .user = spawn->user,
			      .no_terminal = spawn->no_terminal,
			      .status = -1 };
	int hold[2] = { -1, -1 }, failure[2] = { -1, -1 };
	struct user user = { 0 };
	int status = 0;

	if (held.user && user_find("/etc", held.user, &user, error))
		return -ENOENT;
	held.path = spawn_find(arguments[0], error);
	if (!held.path) {
		user_free(&user);
		return -ENOENT;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, hold) || pipe2(failure, O_CLOEXEC))
		status = -errno;
	if (!status)
		held.pid = spawn_fork(&held, &user, arguments, hold, failure);
	user_free(&user);
	if (held.pid < 0)
		status = held.pid;
	spawn_close(&hold[0]);
	spawn_close(&failure[1]);
	if (status) {
		spawn_close(&hold[1]);
		spawn_close(&failure[0]);
		free(held.path);
		return error_set(error, ERROR_PERMISSION, status, "cannot start a process: %s",
				 strerror(-status));
	}
	spawn_watch_children();
	held.release = hold[1];
	held.failure = failure[0];
	*spawn = held;
	return 0;
}

/* Wait for a child that ends by itself or has been killed. */
static void spawn_reap(struct spawn *spawn)
{
	if (TEMP_FAILURE_RETRY(waitpid(spawn->pid, &spawn->status, 0)) != spawn->pid)
		spawn->status = -1;
	spawn->ended = true;
}

static bool spawn_send(const struct spawn *spawn, char word)
{
	return TEMP_FAILURE_RETRY(send(spawn->release, &word, 1, MSG_NOSIGNAL)) == 1;
}

int spawn_set_apart(struct spawn *spawn)
{
	int code;

	if (!spawn_send(spawn, WORD_APART) ||
	    TEMP_FAILURE_RETRY(read(spawn->release, &code, sizeof(code))) != sizeof(code))
		return -ESRCH;
	return code;
}

void spawn_let_go(struct spawn *spawn)
{
	spawn->gone = spawn_send(spawn, WORD_GO);
	spawn_close(&spawn->release);
}

int spawn_release(struct spawn *spawn, struct error *error)
{
	ssize_t got = 0;
	int code = 0;

	if (spawn->release >= 0)
		spawn_let_go(spawn);
	if (spawn->gone)
		got = TEMP_FAILURE_RETRY(read(spawn->failure, &code, sizeof(code)));
	spawn_close(&spawn->failure);
	if (spawn->gone && got == 0)
		return 0;
	spawn_reap(spawn);
	if (got != sizeof(code))
		return error_set(error, ERROR_TARGET, -ESRCH, "%s ended before it was started",
				 spawn->path);
	if (code < 0)
		return error_set(error, ERROR_PERMISSION, code,
				 "cannot run %s as another user: %s (it takes root, or CAP_SETUID "
				 "and CAP_SETGID)",
				 spawn->path, strerror(-code));
	return error_set(error, spawn_kind(-code), -code, "cannot run %s: %s", spawn->path,
			 strerror(code));
}

int spawn_poll(struct spawn *spawn, int *ret_status)
{
	pid_t pid;

	if (!spawn->ended) {
		pid = TEMP_FAILURE_RETRY(waitpid(spawn->pid, &spawn->status, WNOHANG));
		if (pid == 0)
			return 0;
		if (pid < 0)
			spawn->status = -1;
		spawn->ended = true;
	}
	*ret_status = spawn->status;
	return 1;
}

/*
 * A child that cannot be released any more ends by itself. The kill ends one that is stopped; a tracer that has given up
 * root has no right to it, and then leaves a stopped child to end when it goes on.
 */
static void spawn_end_held(struct spawn *spawn)
{
	int status;

	if (spawn->ended)
		return;
	if (!kill(spawn->pid, SIGKILL))
		spawn_reap(spawn);
	else
		TEMP_FAILURE_RETRY(waitpid(spawn->pid, &status, WUNTRACED));
}

void spawn_free(struct spawn *spawn)
{
	if (!spawn || spawn->pid <= 0)
		return;
	if (spawn->release >= 0) {
		spawn_close(&spawn->release);
		spawn_end_held(spawn);
	}
	spawn_close(&spawn->failure);
	free(spawn->path);
	*spawn = (struct spawn){ .release = -1, .failure = -1, .status = -1 };
}
