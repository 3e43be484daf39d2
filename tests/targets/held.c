/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Preloaded into the tracer: the processes that close its links, and by that take probes out, do not end as long as the file
 * $TEST_HOLD is there. So the removal of probes takes as long as a test likes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

struct held {
	int (*run)(void *context);
	void *context;
};

/* On a stack of its own, in the memory of the tracer. */
static int held_run(void *context)
{
	const struct held *held = context;
	const char *hold = getenv("TEST_HOLD");
	int code = held->run(held->context);
	int fd;

	/* Not access(), which asks for the real user, without capabilities. */
	while (hold && (fd = open(hold, O_RDONLY | O_CLOEXEC)) >= 0) {
		close(fd);
		usleep(10000);
	}
	return code;
}

/* What waits with CLONE_VFORK attaches probes, and is left alone. */
int clone(int (*run)(void *context), void *stack, int flags, void *context, ...)
{
	int (*next)(int (*)(void *), void *, int, void *, ...) =
		(int (*)(int (*)(void *), void *, int, void *, ...))dlsym(RTLD_NEXT, "clone");
	struct held *held = malloc(sizeof(*held));

	if (!held || flags & CLONE_VFORK)
		return next(run, stack, flags, context);
	*held = (struct held){ run, context };
	return next(held_run, stack, flags, held);
}
