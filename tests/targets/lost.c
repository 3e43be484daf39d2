/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints "ready", waits for a line, loses blocks in functions of known names, prints "done", and waits for its input to end. With
 * "none" it loses nothing. The last argument is its exit status.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scrub.h"

#define QUIET __attribute__((noinline))

static void *volatile kept[64];

static QUIET void *make(size_t size)
{
	void *block = malloc(size);

	memset(block, 0, size);
	return block;
}

static QUIET void lose_page(void)
{
	make(4008);
}

/* A head and a tail that only it leads to. */
static QUIET void lose_chain(void)
{
	void *volatile *head = calloc(1, 2008);

	head[1] = make(3016);
}

/* Only its inside is known. */
static QUIET void hide(int slot)
{
	kept[slot] = (char *)malloc(1008) + 64;
}

static QUIET void keep(int slot)
{
	kept[32 + slot] = make(6008);
}

static QUIET void parse(void)
{
	int i;

	for (i = 0; i < 10; i++)
		lose_page();
	for (i = 0; i < 5; i++)
		lose_chain();
	for (i = 0; i < 3; i++)
		hide(i);
}

int main(int count, char **arguments)
{
	char line[16];

	setvbuf(stdout, NULL, _IONBF, 0);
	puts("ready");
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	if (count < 2 || strcmp(arguments[1], "none") != 0)
		parse();
	keep(0);
	scrub();
	puts("done");
	while (fgets(line, sizeof(line), stdin))
		;
	return count > 2 ? atoi(arguments[2]) : 0;
}
