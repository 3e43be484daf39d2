/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one malloc and one free cost. Reads lines "MILLISECONDS THREADS DEPTH"; for each it lets that many threads
 * allocate and free for that long, DEPTH frames below the start of the thread, and prints one line of JSON: pairs of
 * all threads, the CPU time and the time on the clock that they took, in nanoseconds.
 *
 * CPU time does not count what other programs take from this one, so it is what a busy machine can measure.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 64
#define CHUNK 32 /* pairs between two looks at the clock's flag */
#define FRAMES_ABOVE 3 /* the thread's start, in libc and here, and the loop itself */

struct worker {
	pthread_t thread;
	int depth;
	unsigned long pairs, cpu_ns, wall_ns;
};

static atomic_int running;

static unsigned long now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (unsigned long)time.tv_sec * 1000000000 + (unsigned long)time.tv_nsec;
}

static __attribute__((noinline)) unsigned long churn(void)
{
	unsigned long pairs = 0;
	int i;

	while (running) {
		for (i = 0; i < CHUNK; i++) {
			void *block = malloc(64 + (i & 63));

			__asm__ volatile("" : "+r"(block) : : "memory");
			free(block);
		}
		pairs += CHUNK;
	}
	return pairs;
}

static __attribute__((noinline)) unsigned long descend(int depth)
{
	unsigned long pairs = depth > 0 ? descend(depth - 1) : churn();

	__asm__ volatile("" : "+r"(pairs));
	return pairs;
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	unsigned long cpu = now(CLOCK_THREAD_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);

	worker->pairs = descend(worker->depth - FRAMES_ABOVE);
	worker->cpu_ns = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
	worker->wall_ns = now(CLOCK_MONOTONIC) - wall;
	return NULL;
}

static void measure(int milliseconds, int threads, int depth)
{
	struct worker workers[THREADS_MAX], sum = { 0 };
	int i;

	running = 1;
	for (i = 0; i < threads; i++) {
		workers[i].depth = depth;
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	usleep(milliseconds * 1000);
	running = 0;
	for (i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		sum.pairs += workers[i].pairs;
		sum.cpu_ns += workers[i].cpu_ns;
		sum.wall_ns += workers[i].wall_ns;
	}
	printf("{\"rounds\": %lu, \"cpu_ns\": %lu, \"wall_ns\": %lu}\n", sum.pairs, sum.cpu_ns,
	       sum.wall_ns);
	fflush(stdout);
}

int main(void)
{
	int milliseconds, threads, depth;

	while (scanf("%d %d %d", &milliseconds, &threads, &depth) == 3)
		if (threads > 0 && threads <= THREADS_MAX)
			measure(milliseconds, threads, depth);
	return 0;
}
