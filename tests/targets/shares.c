/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that has lost LEAKED blocks of a size that nothing else has, and whose memory another process shares, which runs no code of its own: with
 * "vfork" a child that has not executed a program yet, with "clone" one of clone() with CLONE_VM beside a parent that waits; with "busy" the parent
 * computes; with "alone" it computes, and there is no child; with "spawn" it waits, and the child has executed a program;
 * with "outer" the child is the first process of a pid namespace of its own.
 * Prints the child (0 = none) and the address of a block that is held.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "scrub.h"

#define LEAKED 12
#define LEAKED_BYTES 3000
#define HELD_BYTES 5000
#define STACK_BYTES 65536

static void *volatile held;
static int is_vfork, executes;
static volatile unsigned int turns;

static __attribute__((noinline)) void lose(void)
{
	int i;

	for (i = 0; i < LEAKED; i++)
		memset(malloc(LEAKED_BYTES), 0, LEAKED_BYTES);
	held = malloc(HELD_BYTES);
}

static void print(long child)
{
	char line[64];
	int length = snprintf(line, sizeof(line), "%ld %p\n", child, held);

	if (write(1, line, length) != length)
		_exit(1);
}

static int live(void *unused)
{
	(void)unused;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (is_vfork)
		print(syscall(SYS_getpid));
	if (executes)
		execlp("sleep", "sleep", "1000", (char *)NULL);
	for (;;)
		pause();
	return 0;
}

/* As vfork() does, on a stack of its own. */
static int share(int flags)
{
	static char stack[STACK_BYTES];
	int child = clone(live, stack + sizeof(stack), CLONE_VM | flags | SIGCHLD, NULL);

	if (child < 0)
		_exit(1);
	return child;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int child = 0;
	char byte;

	lose();
	scrub();
	is_vfork = !strcmp(how, "vfork");
	executes = !strcmp(how, "spawn");
	if (is_vfork || executes)
		child = share(CLONE_VFORK);
	else if (strcmp(how, "alone"))
		child = share(strcmp(how, "outer") ? 0 : CLONE_NEWPID);
	print(child);
	if (!strcmp(how, "busy") || !strcmp(how, "alone"))
		for (;;)
			turns++;
	return read(0, &byte, 1) < 0;
}
