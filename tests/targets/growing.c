/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A heap that only grows, at a steady rate: `growing KIB_PER_SECOND SIZE THREADS`. Each thread allocates its share, in blocks of
 * SIZE bytes to twice as many, writes to all of it, and keeps it; with THREADS 0 the first thread does. For each line on standard
 * input it prints its live blocks and their bytes as JSON. It stops growing at 768 MiB.
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_BYTES (768l << 20)
#define MOST_THREADS 64

static struct thread {
	pthread_t thread;
	void *last; /* each block has the address of the one before */
	uint64_t allocated;
} threads[MOST_THREADS];

static uint64_t rate;
static size_t size;
static atomic_long blocks, bytes;

static double elapsed(void)
{
	static struct timespec begin;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!begin.tv_sec)
		begin = now;
	return (double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) / 1e9;
}

static void grow(struct thread *thread)
{
	size_t length = size + thread->allocated / 16 % (size + 1);
	void **block = malloc(length);

	if (!block)
		abort();
	memset(block, 0x5a, length);
	*block = thread->last;
	thread->last = block;
	thread->allocated += length;
	blocks++;
	bytes += (long)length;
}

static void catch_up(struct thread *thread)
{
	while ((double)thread->allocated < elapsed() * (double)rate && bytes < MOST_BYTES)
		grow(thread);
}

static void *work(void *argument)
{
	struct thread *thread = argument;

	for (;;) {
		catch_up(thread);
		usleep(1000);
	}
	return NULL;
}

static void answer(void)
{
	char line[64];
	int length;

	length = snprintf(line, sizeof(line), "{\"blocks\": %ld, \"bytes\": %ld}\n", blocks, bytes);
	if (write(1, line, (size_t)length) != length)
		_exit(1);
}

int main(int argc, char **argv)
{
	int count = argc == 4 ? atoi(argv[3]) : -1, i;
	struct pollfd input = { .fd = 0, .events = POLLIN };
	char byte;

	if (count < 0 || count > MOST_THREADS)
		return 2;
	rate = (uint64_t)atol(argv[1]) * 1024 / (uint64_t)(count ? count : 1);
	size = (size_t)atol(argv[2]);
	elapsed();
	for (i = 0; i < count; i++)
		if (pthread_create(&threads[i].thread, NULL, work, &threads[i]))
			return 1;
	for (;;) {
		if (!count)
			catch_up(&threads[0]);
		if (poll(&input, 1, count ? -1 : 1) <= 0)
			continue;
		if (read(0, &byte, 1) != 1)
			_exit(0);
		if (byte == '\n')
			answer();
	}
}
