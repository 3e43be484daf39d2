/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory by command: `resident` obeys lines on its standard input, each answered by a line when it is done. A number allocates
 * one block of so many MiB and writes to all of it; "drop" frees them all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS_MAX 1000

int main(void)
{
	static char *blocks[BLOCKS_MAX];
	size_t count = 0, size;
	char line[32];

	while (fgets(line, sizeof(line), stdin) && count < BLOCKS_MAX) {
		size = strtoul(line, NULL, 10) << 20;
		if (size) {
			blocks[count] = malloc(size);
			if (!blocks[count])
				return 1;
			memset(blocks[count++], 0x5a, size);
		}
		while (!size && count)
			free(blocks[--count]);
		puts("done");
		fflush(stdout);
	}
	return 0;
}
