/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loses LOST blocks of each of QUIET sizes and of one size that is allocated and freed all the time, among as many that it keeps, and works:
 * `leak_work RATE [MOST]`. Two threads allocate blocks of 16 to MOST bytes and free them, each its own and those of the other, RATE times a
 * second together; 0 = as fast as they can. Prints a line when they do.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "scrub.h"

#define LOST 50
#define BUSY 136 /* bytes that are also allocated and freed all the time */
#define HELD 3000
#define BATCH 100 /* calls between two waits */
#define THREADS 2

static const size_t quiet[] = { 5000, 20000, 300000 };

#define SIZES (sizeof(quiet) / sizeof(*quiet) + 1)

static void *volatile kept[SIZES][LOST];
static _Atomic(void *) held[HELD];
static size_t most = 1000;
static long rate;

static __attribute__((noinline)) void *make(size_t size)
{
	void *volatile block = malloc(size);

	memset(block, 0, size);
	return block;
}

static __attribute__((noinline)) void lose(void)
{
	size_t i, k;

	for (i = 0; i < LOST; i++)
		for (k = 0; k < SIZES; k++) {
			make(k < SIZES - 1 ? quiet[k] : BUSY);
			kept[k][i] = make(k < SIZES - 1 ? quiet[k] : BUSY);
		}
}

static uint64_t draw(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

static void work_once(uint64_t *random)
{
	size_t i = draw(random) % HELD, size = 16 + draw(random) % (most - 15);
	void *block = atomic_exchange(&held[i], NULL);

	if (block) {
		free(block);
		return;
	}
	block = malloc(size);
	/* No two look alike, but for those of nobody else's business. */
	memset(block, 0, size);
	free(atomic_exchange(&held[i], block));
}

static void *work(void *argument)
{
	uint64_t random = (uint64_t)(uintptr_t)argument;
	struct timespec next;
	int i;

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (;;) {
		for (i = 0; i < BATCH; i++)
			work_once(&random);
		if (!rate)
			continue;
		next.tv_nsec += 1000000000l / rate * BATCH * THREADS;
		for (; next.tv_nsec >= 1000000000l; next.tv_nsec -= 1000000000l)
			next.tv_sec++;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
	return NULL;
}

int main(int count, char **arguments)
{
	pthread_t threads[THREADS];
	uint64_t i;

	rate = count > 1 ? atol(arguments[1]) : 0;
	most = count > 2 ? strtoul(arguments[2], NULL, 10) : most;
	lose();
	scrub();
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work,
			       (void *)(uintptr_t)(88172645463325252 + 362436069 * i));
	usleep(300000);
	printf("at work\n");
	fflush(stdout);
	pthread_join(threads[0], NULL);
	return 0;
}
