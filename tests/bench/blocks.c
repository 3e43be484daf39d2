/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits for a line, allocates blocks and keeps them, says so, and waits for its stdin to end: `blocks COUNT`. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Sites differ, as in a program that leaks in earnest. */
static __attribute__((noinline)) void *place(long count, int depth)
{
	void *block = depth ? place(count, depth - 1) : malloc(16 + count % 64);

	__asm__ volatile("" : "+r"(block));
	return block;
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 0, i;
	char byte;

	if (read(STDIN_FILENO, &byte, 1) != 1)
		return 1;
	for (i = 0; i < count; i++)
		place(i, (int)(i % 16));
	printf("done\n");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		continue;
	return 0;
}
