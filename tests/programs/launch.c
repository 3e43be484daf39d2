/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * launch [-w] NAME=VALUE COMMAND [ARGUMENT ...]: execute a command with a variable in its environment, in the place of the
 * one of that name. Unlike env(1) it allocates nothing by itself, so that all that is counted is the command's. With
 * -w the command is a child, as it is the tracer's, and its status is returned: some programs keep their parent's number.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define VARIABLES_MAX 1024

static char **set_variable(char *variable, char **environment)
{
	static char *given[VARIABLES_MAX + 2];
	size_t name = (size_t)(strchr(variable, '=') - variable) + 1, i;
	int is_set = 0;

	for (i = 0; environment[i] && i < VARIABLES_MAX; i++) {
		int is_same = strncmp(environment[i], variable, name) == 0;

		given[i] = is_same ? variable : environment[i];
		is_set |= is_same;
	}
	if (!is_set)
		given[i] = variable;
	return given;
}

static int wait_for(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) < 0)
		return 124;
	if (WIFSIGNALED(status))
		kill(getpid(), WTERMSIG(status));
	return WEXITSTATUS(status);
}

int main(int argc, char **argv, char **environment)
{
	int waits = argc > 1 && !strcmp(argv[1], "-w");
	pid_t child;

	if (argc - waits < 3 || !strchr(argv[1 + waits], '='))
		return 125;
	child = waits ? fork() : 0;
	if (child)
		return wait_for(child);
	execve(argv[2 + waits], argv + 2 + waits, set_variable(argv[1 + waits], environment));
	return 126;
}
