/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes that allocate as soon as they have begun: `early fork COUNT` has children of fork, `early share COUNT` has one
 * in its own memory, as vfork does. It begins with a line on standard input; with the next one the children end. The
 * account is the parent's memory's.
 */
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "truth.h"

#define BLOCKS 5
#define STACK_SIZE 65536

SITE static void *site_early(size_t size)
{
	void *block = malloc(size);

	HIDE(block);
	truth_alloc(__func__, size);
	return block;
}

static void wait_line(void)
{
	char byte;

	while (read(0, &byte, 1) == 1 && byte != '\n')
		;
}

static int be_child(void *unused)
{
	int i;

	(void)unused;
	for (i = 0; i < BLOCKS; i++)
		site_early(100);
	if (write(1, "child\n", 6) != 6)
		_exit(1);
	pause();
	_exit(0);
}

static void end_children(const pid_t *children, int count)
{
	int i;

	for (i = 0; i < count; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
}

int main(int argc, char **argv)
{
	static char stack[STACK_SIZE] __attribute__((aligned(16)));
	int count = argc > 2 ? atoi(argv[2]) : 0, i;
	int shares = argc > 1 && !strcmp(argv[1], "share");
	pid_t *children = calloc((size_t)count + 1, sizeof(*children));

	if (count < 1 || (shares && count > 1))
		return 2;
	wait_line();
	for (i = 0; i < count; i++) {
		children[i] =
			shares ? clone(be_child, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL)
			       : fork();
		if (!children[i])
			be_child(NULL);
	}
	wait_line();
	site_early(1000);
	end_children(children, count);
	truth_begin("stay");
	truth_end();
	return 0;
}
