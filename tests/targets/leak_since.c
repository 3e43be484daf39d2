/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loses blocks before the first line of its input, and others after it, which it had until then or allocates only to lose them. Each case has a size of
 * its own; the first line of the output has them as JSON. Prints a line after each step; the third one is the end of its input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scrub.h"

/* Usable sizes, so that a report has the same. */
enum {
	LOST_SIZE = 1112,
	DROPPED_SIZE = 2232,
	CHILD_SIZE = 2632,
	BORN_SIZE = 3336,
	KEPT_SIZE = 4440
};
enum { LOST = 7, DROPPED = 11, BORN = 5, KEPT = 3 };

static void *volatile dropped[DROPPED], *volatile kept[KEPT];

static __attribute__((noinline)) void *make(size_t size)
{
	void *volatile block = malloc(size);

	memset(block, 0, size);
	return block;
}

static __attribute__((noinline)) void begin(void)
{
	int i;

	for (i = 0; i < LOST; i++)
		make(LOST_SIZE);
	for (i = 0; i < DROPPED; i++) {
		dropped[i] = make(DROPPED_SIZE);
		*(void *volatile *)dropped[i] = make(CHILD_SIZE);
	}
	for (i = 1; i < KEPT; i++)
		kept[i] = make(KEPT_SIZE);
}

static __attribute__((noinline)) void go_on(void)
{
	int i;

	for (i = 0; i < DROPPED; i++)
		dropped[i] = NULL;
	for (i = 0; i < BORN; i++)
		make(BORN_SIZE);
	/* The last one may be in a register for long. */
	kept[0] = make(KEPT_SIZE);
}

int main(void)
{
	char byte;

	begin();
	scrub();
	printf("{\"lost\": [%d, %d], \"dropped\": [%d, %d], \"child\": [%d, %d], \"born\": [%d, "
	       "%d], \"kept\": [%d, %d]}\n",
	       LOST_SIZE, LOST, DROPPED_SIZE, DROPPED, CHILD_SIZE, DROPPED, BORN_SIZE, BORN,
	       KEPT_SIZE, KEPT);
	fflush(stdout);
	if (read(0, &byte, 1) != 1)
		return 1;
	go_on();
	scrub();
	printf("gone on\n");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	return 0;
}
