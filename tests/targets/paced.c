/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocates and frees in batches, some time apart, and keeps an account with times: `paced [THREADS [PAUSE_US]]`. At the end of
 * standard input it prints its log, ordered by time: for each batch, when it was done (CLOCK_MONOTONIC, nanoseconds), how many
 * calls it was, and by which of its threads. Without threads it only waits.
 */
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include "truth.h"

#define PAIRS 25 /* of a batch */
#define LOG_MAX (1 << 20)
#define THREADS_MAX 64

struct batch {
	uint64_t time;
	unsigned int thread;
};

static struct batch batches[LOG_MAX];
static volatile unsigned int logged, ended;
static unsigned int pause_us = 1000;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void *work(void *number)
{
	unsigned int i, at;
	void *block;

	while (!ended && logged < LOG_MAX) {
		for (i = 0; i < PAIRS; i++) {
			block = malloc(100 + i);
			HIDE(block);
			free(block);
		}
		at = __atomic_fetch_add(&logged, 1, __ATOMIC_RELAXED);
		if (at < LOG_MAX)
			batches[at] = (struct batch){ now(), (unsigned int)(uintptr_t)number };
		usleep(pause_us);
	}
	return NULL;
}

static int compare(const void *left, const void *right)
{
	const struct batch *a = left, *b = right;

	return a->time < b->time ? -1 : a->time > b->time;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0, i;
	pthread_t threads[THREADS_MAX];
	unsigned int done, at;
	char byte;

	if (argc > 2)
		pause_us = (unsigned int)atoi(argv[2]);
	if (count > THREADS_MAX)
		return 2;
	for (i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i);
	while (read(0, &byte, 1) == 1)
		;
	ended = 1;
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	done = logged < LOG_MAX ? logged : LOG_MAX;
	qsort(batches, done, sizeof(batches[0]), compare);
	printf("[");
	for (at = 0; at < done; at++)
		printf("%s[%llu, %d, %u]", at ? ", " : "", (unsigned long long)batches[at].time,
		       2 * PAIRS, batches[at].thread);
	printf("]\n");
	return 0;
}
