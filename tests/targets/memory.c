/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process whose memory is known: a heap of which nearly all was freed, threads that run, threads that have ended and that nobody
 * joins, shared and mapped memory. Prints what it has made, then waits for its input to end.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCKS 200000
#define BLOCK 200
#define RUNNING 4
#define ENDED 8
#define SHARED (3 << 20)
#define MAPPED (5 << 20)

static pthread_barrier_t barrier;

static void *run(void *argument)
{
	pthread_barrier_wait(&barrier);
	pause();
	return argument;
}

static void *stop(void *argument)
{
	return argument;
}

/* Every thousandth block stays. */
static void fragment(void)
{
	const size_t size = BLOCKS * sizeof(void *);
	void **blocks =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	for (i = 0; i < BLOCKS; i++)
		blocks[i] = memset(malloc(BLOCK), 1, BLOCK);
	for (i = 0; i < BLOCKS; i++)
		if (i % 1000 != 999)
			free(blocks[i]);
	munmap(blocks, size);
}

int main(void)
{
	pthread_t thread;
	int i;

	pthread_barrier_init(&barrier, NULL, RUNNING + 1);
	for (i = 0; i < RUNNING; i++)
		pthread_create(&thread, NULL, run, NULL);
	pthread_barrier_wait(&barrier);
	for (i = 0; i < ENDED; i++)
		pthread_create(&thread, NULL, stop, NULL);
	memset(mmap(NULL, SHARED, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), 1,
	       SHARED);
	memset(mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1,
	       MAPPED);
	fragment();
	/* The heap's figures by the C library itself; printed at once, and nothing is allocated then. */
	struct mallinfo2 info = mallinfo2();
	dprintf(1,
		"{\"running\": %d, \"ended\": %d, \"shared\": %d, \"mapped\": %d, \"free\": %zu}\n",
		RUNNING, ENDED, SHARED, MAPPED, info.fordblks);
	while (read(0, &i, sizeof(i)) > 0)
		;
	return 0;
}
