/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See link_task.h. */
#include "kernel/link_task.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"

/* Room for the stack of a process that makes a system call or two. */
#define TASK_STACK 65536

/* Links that are closed at the same time. */
#define CLOSE_TOGETHER 32

/* The stacks of `count` tasks. NULL if there is no memory. */
static char *task_stacks(size_t count)
{
	void *stacks = mmap(NULL, count * TASK_STACK, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

	return stacks == MAP_FAILED ? NULL : stacks;
}

/*
 * Start a process that runs `run` on the stack of this number. It sends no SIGCHLD at its end. All signals must be
 * blocked: handlers and the terminal's Ctrl-C are not for it. Returns its pid or -1.
 */
static pid_t task_start(int (*run)(void *), void *context, char *stacks, size_t number, int flags)
{
	return clone(run, stacks + (number + 1) * TASK_STACK, CLONE_VM | flags, context);
}

static void task_wait(pid_t pid)
{
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
}

struct errand {
	int (*work)(void *context);
	void *context;
	int result;
};

static int errand_run(void *context)
{
	struct errand *errand = context;

	errand->result = errand->work(errand->context);
	return 0;
}

int link_task_run(int (*work)(void *context), void *context)
{
	struct errand errand = { .work = work, .context = context };
	char *stack = task_stacks(1);
	sigset_t all, before;
	pid_t pid = -1;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (stack)
		pid = task_start(errand_run, &errand, stack, 0, CLONE_VFORK | CLONE_FILES);
	if (pid > 0)
		task_wait(pid);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (stack)
		munmap(stack, TASK_STACK);
	return pid > 0 ? errand.result : work(context);
}

struct leaver {
	const struct link_closing *closing;
	size_t index;
};

/* What the processes share that close `count` links, one each. They have a table of descriptors of their own. */
struct link_closing {
	const int *fds; /* until all are ready */
	size_t count;
	int ready[2]; /* a byte of each that has let go of the links of others */
	int gate[2]; /* ends when we have closed ours, or are gone */
	char *stacks;
	struct leaver leavers[CLOSE_TOGETHER];
	pid_t pids[CLOSE_TOGETHER]; /* 0 or less: none */
};

/*
 * No function of the C library that is a point of cancellation: its thread is the one that has started us. The link is
 * closed by the exit.
 */
static int leaver_run(void *context)
{
	const struct leaver *leaver = context;
	const struct link_closing *closing = leaver->closing;
	char byte = 0;
	size_t i;

	syscall(SYS_close, closing->gate[1]);
	for (i = 0; i < closing->count; i++)
		if (i != leaver->index)
			syscall(SYS_close, closing->fds[i]);
	syscall(SYS_write, closing->ready[1], &byte, 1);
	syscall(SYS_close, closing->ready[1]);
	while (syscall(SYS_read, closing->gate[0], &byte, 1) > 0)
		;
	return 0;
}

static void closing_close_fds(const struct link_closing *closing)
{
	size_t i;

	for (i = 0; i < closing->count; i++)
		close(closing->fds[i]);
}

static bool closing_open_pipes(struct link_closing *closing)
{
	if (pipe2(closing->ready, O_CLOEXEC))
		return false;
	if (!pipe2(closing->gate, O_CLOEXEC))
		return true;
	close(closing->ready[0]);
	close(closing->ready[1]);
	return false;
}

/*
 * Each process has copies of all descriptors: the links of the others must be closed in it before we close ours, or it
 * would be the last to have them.
 */
static void closing_start(struct link_closing *closing)
{
	size_t i, started = 0;
	char byte;

	for (i = 0; i < closing->count; i++) {
		closing->leavers[i] = (struct leaver){ closing, i };
		closing->pids[i] =
			task_start(leaver_run, &closing->leavers[i], closing->stacks, i, 0);
		started += closing->pids[i] > 0;
	}
	close(closing->ready[1]);
	for (i = 0; i < started; i++)
		if (TEMP_FAILURE_RETRY(read(closing->ready[0], &byte, 1)) != 1)
			break;
	closing_close_fds(closing);
	close(closing->gate[1]);
	close(closing->ready[0]);
}

/*
 * One thread at a time: processes that another one starts meanwhile would have copies of our gate, and ours of its gate, so that
 * neither would ever end.
 */
static pthread_mutex_t close_lock = PTHREAD_MUTEX_INITIALIZER;

static struct link_closing *close_together(const int *fds, size_t count)
{
	struct link_closing *closing = memory_alloc(1, sizeof(*closing));
	sigset_t all, before;

	*closing = (struct link_closing){
		.fds = fds, .count = count, .gate = { -1, -1 }, .stacks = task_stacks(count)
	};
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_mutex_lock(&close_lock);
	if (closing->stacks && closing_open_pipes(closing))
		closing_start(closing);
	else
		closing_close_fds(closing);
	pthread_mutex_unlock(&close_lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return closing;
}

/* To close a link takes some of the kernel's periods of grace, tens of milliseconds: they pass for all at once. */
struct link_closing *link_task_close_begin(const int *fds, size_t count)
{
	size_t i;

	if (!count)
		return NULL;
	for (i = 0; count - i > CLOSE_TOGETHER; i += CLOSE_TOGETHER)
		link_task_close_end(close_together(fds + i, CLOSE_TOGETHER));
	return close_together(fds + i, count - i);
}

void link_task_close_end(struct link_closing *closing)
{
	size_t i;

	if (!closing)
		return;
	for (i = 0; i < closing->count; i++)
		if (closing->pids[i] > 0)
			task_wait(closing->pids[i]);
	if (closing->gate[0] >= 0)
		close(closing->gate[0]);
	if (closing->stacks)
		munmap(closing->stacks, closing->count * TASK_STACK);
	free(closing);
}

void link_task_close(const int *fds, size_t count)
{
	link_task_close_end(link_task_close_begin(fds, count));
}
