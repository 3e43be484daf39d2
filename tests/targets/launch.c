/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ways in which one program starts another: `launch WAY COMMAND ARGUMENT...`. It ends with the status of what it started,
 * but for "daemon", whose end nobody waits for.
 */
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int launch_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) != pid)
		if (errno != EINTR)
			return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int launch_spawn(char **command)
{
	pid_t pid;

	return posix_spawnp(&pid, command[0], NULL, NULL, command, environ) ? 127
									    : launch_wait(pid);
}

static int launch_vfork(char **command)
{
	pid_t pid = vfork();

	if (!pid) {
		execvp(command[0], command);
		_exit(127);
	}
	return launch_wait(pid);
}

/* The grandchild has no parent that it knows. */
static int launch_daemon(char **command)
{
	pid_t pid = fork();

	if (pid)
		return launch_wait(pid);
	setsid();
	if (fork())
		_exit(0);
	execvp(command[0], command);
	_exit(127);
}

static void *launch_exec(void *command)
{
	execvp(((char **)command)[0], command);
	_exit(127);
}

/* The kernel gives the program the number of the first thread. */
static int launch_thread(char **command)
{
	pthread_t thread;

	pthread_create(&thread, NULL, launch_exec, command);
	pthread_join(thread, NULL);
	return 127;
}

/* A child that uses its parent's memory when it reads a line, and does not execute anything. */
static int launch_share(char **command)
{
	pid_t pid = vfork();

	if (!pid) {
		char byte;

		while (read(0, &byte, 1) == 1)
			;
		_exit(0);
	}
	(void)command;
	return launch_wait(pid);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*start)(char **command);
	} ways[] = {
		{ "spawn", launch_spawn },   { "vfork", launch_vfork }, { "daemon", launch_daemon },
		{ "thread", launch_thread }, { "share", launch_share },
	};
	size_t i;

	for (i = 0; argc > 2 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], ways[i].name))
			return ways[i].start(argv + 2);
	fprintf(stderr, "launch: no such way\n");
	return 2;
}
