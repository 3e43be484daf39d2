/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocates and frees in several threads until it is ended, and says every tenth of a second how many rounds it has
 * made: `churn [THREADS]`. Every block is checked before it is freed.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "truth.h"

static atomic_long rounds;

static void *churn(void *unused)
{
	unsigned char *block;
	size_t size;

	for (size = 1;; size = size % 2000 + 1) {
		block = malloc(size);
		memset(block, (int)size & 255, size);
		block = realloc(block, size + 100);
		if (block[0] != (size & 255) || block[size - 1] != (size & 255))
			abort();
		free(block);
		rounds++;
	}
	return unused;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1, i;
	pthread_t thread;

	for (i = 0; i < count; i++)
		pthread_create(&thread, NULL, churn, NULL);
	for (;;) {
		usleep(100000);
		printf("%ld\n", (long)rounds);
		fflush(stdout);
	}
}
