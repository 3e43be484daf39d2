/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocates when it is asked to, and prints where. Reads commands, one a line, and answers each with a line:
 *   c N   calloc() N blocks: their addresses
 *   f N   free() the N oldest of them: their addresses
 *   r N   realloc() the N oldest to other sizes: pairs of old and new addresses
 *   b 1   a second thread begins to call malloc() and free() all the time; b 0: it stops
 *   p N   the second thread, which is stopped, does so N times
 * Its own work allocates nothing. The threads have arenas of their own: no address is of both.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCKS 4096

static void *blocks[BLOCKS];
static size_t block_count;
static atomic_long pairs_left; /* -1 = for ever */
static atomic_int working;

static void *churn(void *unused)
{
	void *volatile block = malloc(64);
	long left;

	(void)unused;
	free(block);
	for (;;) {
		left = atomic_load(&pairs_left);
		atomic_store(&working, left != 0);
		if (!left) {
			sched_yield();
			continue;
		}
		block = malloc(64);
		free(block);
		if (left > 0)
			atomic_fetch_sub(&pairs_left, 1);
	}
	return NULL;
}

static void answer(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		_exit(1);
}

static void answer_address(const void *address)
{
	char text[32];

	snprintf(text, sizeof(text), "%lx ", (unsigned long)address);
	answer(text);
}

static void step_calloc(size_t count)
{
	for (; count-- && block_count < BLOCKS; block_count++) {
		blocks[block_count] = calloc(3, 40);
		answer_address(blocks[block_count]);
	}
}

static void step_free(size_t count)
{
	size_t i;

	for (i = 0; i < count && i < block_count; i++) {
		answer_address(blocks[i]);
		free(blocks[i]);
	}
	block_count -= i;
	memmove(blocks, blocks + i, block_count * sizeof(blocks[0]));
}

static void step_realloc(size_t count)
{
	size_t i;

	for (i = 0; i < count && i < block_count; i++) {
		answer_address(blocks[i]);
		blocks[i] = realloc(blocks[i], 5000 + 16 * (i % 7));
		answer_address(blocks[i]);
	}
}

static void step_pairs(long count)
{
	atomic_store(&pairs_left, count);
	while (count >= 0 && (atomic_load(&pairs_left) || atomic_load(&working)))
		sched_yield();
}

static void step(char command, long count)
{
	if (command == 'c')
		step_calloc((size_t)count);
	else if (command == 'f')
		step_free((size_t)count);
	else if (command == 'r')
		step_realloc((size_t)count);
	else
		step_pairs(command == 'b' && count ? -1 : command == 'b' ? 0 : count);
	answer("\n");
}

static char read_byte(void)
{
	char byte;

	if (read(STDIN_FILENO, &byte, 1) != 1)
		_exit(0);
	return byte;
}

int main(void)
{
	pthread_t thread;
	char line[32];
	size_t length;

	if (pthread_create(&thread, NULL, churn, NULL))
		return 1;
	for (;;) {
		for (length = 0; length + 1 < sizeof(line); length++)
			if ((line[length] = read_byte()) == '\n')
				break;
		line[length] = '\0';
		step(line[0], atol(line + 1));
	}
}
