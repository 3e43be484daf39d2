/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loses LEAKED blocks of each of a few sizes, among as many that it keeps, then waits for its input to end; with "once", a single block of each of ONCE
 * sizes. Prints a line when it has. For other allocators than the C library's, which are preloaded or linked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scrub.h"

#define LEAKED 100
#define ONCE 20
#define ONCE_FIRST 200
#define ONCE_STEP 171

static const size_t sizes[] = { 1111, 7001, 20000, 300000 };

#define SIZES (sizeof(sizes) / sizeof(*sizes))

static void *volatile kept[SIZES][LEAKED];

static __attribute__((noinline)) void *make(size_t size)
{
	void *volatile block = malloc(size);

	memset(block, 0, size);
	return block;
}

static __attribute__((noinline)) void lose(void)
{
	size_t i, k;

	for (i = 0; i < LEAKED; i++)
		for (k = 0; k < SIZES; k++) {
			make(sizes[k]);
			kept[k][i] = make(sizes[k]);
		}
}

static __attribute__((noinline)) void lose_once(void)
{
	size_t i;

	for (i = 0; i < ONCE; i++)
		make(ONCE_FIRST + i * ONCE_STEP);
}

int main(int count, char **arguments)
{
	char byte;

	if (count > 1 && !strcmp(arguments[1], "once"))
		lose_once();
	else
		lose();
	scrub();
	printf("lost\n");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	return 0;
}
