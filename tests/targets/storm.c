/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that allocate, resize and free at random, mostly each other's blocks; in the end everything is freed.
 * `storm [THREADS [OPERATIONS [wait]]]`. Prints how many blocks were allocated and resized.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "truth.h"

#define SLOTS 65536

static _Atomic(void *) slots[SLOTS];
static atomic_long allocated, resized;
static long turns;

static void put(size_t slot, void *block)
{
	free(atomic_exchange(&slots[slot], block));
}

SITE static void site_storm_malloc(size_t slot, size_t size)
{
	put(slot, malloc(size));
	allocated++;
}

SITE static void site_storm_realloc(size_t slot, size_t size)
{
	void *block = atomic_exchange(&slots[slot], NULL);

	put(slot, realloc(block, size));
	resized++;
}

static void *storm(void *seed)
{
	uint32_t random = (uint32_t)(uintptr_t)seed * 7919 + 1;
	long i;

	for (i = 0; i < turns; i++) {
		size_t slot, size;

		random = random * 1664525 + 1013904223;
		slot = (random >> 8) % SLOTS;
		size = random % 700 + 1;
		if (random >> 25 & 1)
			site_storm_malloc(slot, size);
		else if (random >> 26 & 1)
			site_storm_realloc(slot, size);
		else
			put(slot, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 64;
	pthread_t threads[256];
	long i;

	turns = (argc > 2 ? atol(argv[2]) : 5000000) / count;
	truth_begin(argc > 3 ? argv[3] : NULL);
	for (i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, storm, (void *)(intptr_t)(i + 1));
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < SLOTS; i++)
		put((size_t)i, NULL);
	fprintf(stderr, "%ld %ld\n", (long)allocated, (long)resized);
	truth_end();
	return 0;
}
