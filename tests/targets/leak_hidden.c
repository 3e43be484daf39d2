/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loses COUNT blocks of SIZE bytes, then writes 0 over the size in the header of every Nth one, as an overflow leaves it; N is the
 * first argument, 0 = none. For glibc's malloc. With "end", it ends then; otherwise it prints a line, and waits for its input to end.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scrub.h"

#define COUNT 2000
#define SIZE 5000

static __attribute__((noinline)) void lose(int every)
{
	uintptr_t hidden[COUNT];
	volatile uint64_t *header;
	int i;

	/* Not as pointers: none of them leads to a block. */
	for (i = 0; i < COUNT; i++) {
		void *block = malloc(SIZE);

		memset(block, 0, SIZE);
		hidden[i] = (uintptr_t)block ^ 0x5a5a5a5a5a5a5a5aull;
	}
	for (i = 0; every && i < COUNT; i += every) {
		header = (uint64_t *)(hidden[i] ^ 0x5a5a5a5a5a5a5a5aull);
		header[-1] = 0;
	}
	memset(hidden, 0, sizeof(hidden));
}

int main(int count, char **arguments)
{
	char byte;

	lose(count > 1 ? atoi(arguments[1]) : 0);
	scrub();
	if (count > 2)
		return 0;
	(void)!write(1, "lost\n", 5);
	while (read(0, &byte, 1) > 0)
		;
	_exit(0);
}
