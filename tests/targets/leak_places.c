/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * COUNT blocks whose only pointers are in one table; where that is, the first argument says: "static", data of the program's own
 * file; "private FILE", "dropped FILE", pages of a private mapping that the program has written, and still may write or not;
 * "shared FILE", a shared mapping; "closed FILE", a read-only shared mapping of what it wrote by another one, none of whose pages
 * is in the page table. Prints a line when the table is there, then waits for its input to end.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "scrub.h"

#define COUNT 1000
#define TABLE (COUNT * sizeof(void *))
#define SIZE 808

static void *volatile in_data[COUNT] = { (void *)1 };

static __attribute__((noinline)) void fill(void *volatile *table)
{
	size_t i;

	for (i = 0; i < COUNT; i++) {
		table[i] = malloc(SIZE);
		memset(table[i], 0, SIZE);
	}
}

static void *map(const char *path, int protection, int flags)
{
	int fd = open(path, flags & MAP_SHARED ? O_RDWR : O_RDONLY);
	void *memory = fd < 0 ? MAP_FAILED : mmap(NULL, TABLE, protection, flags, fd, 0);

	if (memory == MAP_FAILED) {
		perror(path);
		exit(1);
	}
	close(fd);
	return memory;
}

static __attribute__((noinline)) void place(const char *where, const char *path)
{
	const int flags = where[0] == 'p' || where[0] == 'd' ? MAP_PRIVATE : MAP_SHARED;
	void *table = strcmp(where, "static") ? map(path, PROT_READ | PROT_WRITE, flags)
					      : (void *)in_data;

	fill(table);
	if (!strcmp(where, "dropped"))
		mprotect(table, TABLE, PROT_READ);
	if (!strcmp(where, "closed")) {
		munmap(table, TABLE);
		map(path, PROT_READ, MAP_SHARED);
	}
}

int main(int count, char **arguments)
{
	char byte;

	place(arguments[1], count > 2 ? arguments[2] : "");
	scrub();
	printf("placed\n");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	_exit(0);
}
