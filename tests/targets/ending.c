/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loses ten pages and five chains of two, keeps the inside of three blocks and the start of one, and ends as its argument says. With
 * "none" before that it loses nothing.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scrub.h"

#define QUIET __attribute__((noinline))
#define STATUS 7
#define FRAME 48

static void *volatile kept[64];
static const char *program;

static QUIET void *make(size_t size)
{
	void *block = malloc(size);

	memset(block, 0, size);
	return block;
}

static QUIET void lose_page(void)
{
	make(4008);
}

static QUIET void lose_chain(void)
{
	void *volatile *head = calloc(1, 2008);

	head[1] = make(3016);
}

static QUIET void hide(int slot)
{
	kept[slot] = (char *)malloc(1016) + 64;
}

static QUIET void parse(void)
{
	int i;

	for (i = 0; i < 10; i++)
		lose_page();
	for (i = 0; i < 5; i++)
		lose_chain();
	for (i = 0; i < 3; i++)
		hide(i);
}

/* Or they are, far below where the process ends. */
static QUIET void leave_stale(void)
{
	void *volatile blocks[32];
	volatile char far[16384];
	size_t i;

	far[0] = 0;
	for (i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
		blocks[i] = make(712);
}

static QUIET void go_down(void)
{
	volatile char room[8192];

	room[0] = 0;
	leave_stale();
	room[1] = 1;
}

static void lose_at_exit(void)
{
	free(kept[40]);
	kept[40] = NULL;
	lose_page();
	scrub();
}

static void *end_in_thread(void *unused)
{
	_exit(STATUS);
	return unused;
}

/* When the first thread is a zombie: behind its name, which has a parenthesis at its end, is its state. */
static void *end_last(void *unused)
{
	char path[64], line[256] = "";
	const char *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)getpid());
	do {
		usleep(1000);
		file = fopen(path, "re");
		if (!file || !fgets(line, sizeof(line), file))
			exit(99);
		fclose(file);
		state = strrchr(line, ')');
	} while (!state || strncmp(state, ") Z", 3) != 0);
	return unused;
}

/* The first thread ends, and the process goes on without it. */
static void *stay(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void end_with_thread(void *(*run)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, NULL))
		exit(99);
	if (run == end_last || run == stay)
		pthread_exit(NULL);
	for (;;)
		pause();
}

/* A child that has other blocks, and ends before. */
static void end_after_child(int shares)
{
	pid_t child = shares ? vfork() : fork();

	if (!child && !shares)
		lose_page();
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
}

static QUIET void fill(void *volatile *frame, int count)
{
	int i;

	for (i = 0; i < count; i++)
		frame[i] = make(920);
}

/* In a handler, a second time; what its frame has is alive. */
static void exit_again(void)
{
	void *volatile own[8];

	fill(own, 8);
	scrub();
	exit(STATUS);
}

static void end(const char *how)
{
	if (!strcmp(how, "_exit"))
		_exit(STATUS);
	if (!strcmp(how, "quick"))
		quick_exit(STATUS);
	if (!strcmp(how, "raw"))
		syscall(SYS_exit_group, STATUS);
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "thread"))
		end_with_thread(end_in_thread);
	if (!strcmp(how, "last"))
		end_with_thread(end_last);
	if (!strcmp(how, "stay"))
		end_with_thread(stay);
	if (!strcmp(how, "fork") || !strcmp(how, "vfork"))
		end_after_child(*how == 'v');
	if (!strcmp(how, "exec"))
		execl(program, program, "exit", NULL);
}

int main(int count, char **arguments)
{
	int none = count > 1 && !strcmp(arguments[1], "none");
	const char *how = count > 1 + none ? arguments[1 + none] : "exit";
	/* Where exit() has its frame when main() has returned. */
	void *volatile frame[FRAME] = { NULL };

	program = arguments[0];
	kept[63] = make(6008);
	if (!strcmp(how, "atexit")) {
		kept[40] = make(5008);
		atexit(lose_at_exit);
	}
	if (!none)
		parse();
	scrub();
	if (!strcmp(how, "stale"))
		go_down();
	if (!strcmp(how, "again"))
		atexit(exit_again);
	if (!strncmp(how, "frame", 5))
		fill(frame, FRAME);
	scrub();
	if (!strcmp(how, "frame-exit"))
		exit(STATUS);
	if (!strcmp(how, "frame-end"))
		_exit(STATUS);
	end(how);
	return STATUS;
}
