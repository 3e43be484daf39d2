/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A leak of a known rate beside a cache of a known size: for each line of its input it leaks LEAKED handlers, each with a text, and
 * replaces REPLACED entries of the cache; then it prints how many there are of each, as JSON. It has OTHERS blocks of other kinds,
 * so that a report on it is longer than a page.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAKED 500
#define OLD 2000 /* handlers that were leaked before the first line */
#define CACHED 4096
#define REPLACED 300
#define OTHERS 12

struct handler {
	void (*function)(void);
	char *text;
	long more[3];
};

struct entry {
	long number; /* data: no pointer to anything */
	long more[10];
};

static struct entry *cache[CACHED];
static struct handler *last;
static long handlers, replaced;
static void *others[OTHERS];

static void on_request(void)
{
	handlers++;
}

static void leak(int count)
{
	while (count--) {
		last = malloc(sizeof(*last));
		last->function = on_request;
		last->text = malloc(200);
		snprintf(last->text, 200, "request %ld: %0150d", handlers, 7);
		memset(last->more, 7, sizeof(last->more));
		last->function();
	}
}

static void replace(int count)
{
	for (; count--; replaced++) {
		struct entry **entry = &cache[replaced % CACHED];

		free(*entry);
		*entry = malloc(sizeof(**entry));
		memset(*entry, 9, sizeof(**entry));
		(*entry)->number = replaced * 2 + 0x1111;
	}
}

/* Zeroes, text, data and pointers. */
static void make_others(void)
{
	static const int contents[] = { 0, 'x', 0xe1 };
	size_t i;

	for (i = 0; i < OTHERS; i++) {
		others[i] = malloc(512);
		memset(others[i], contents[i % 3], 512);
		if (i % 4 == 3)
			memcpy(others[i], &others[i], sizeof(others[i]));
	}
}

int main(void)
{
	char line[16];

	setvbuf(stdin, NULL, _IONBF, 0);
	make_others();
	leak(OLD);
	replace(CACHED);
	do {
		printf("{\"handlers\": %ld, \"cached\": %d, \"replaced\": %ld}\n", handlers, CACHED,
		       replaced - CACHED);
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			break;
		leak(LEAKED);
		replace(REPLACED);
	} while (1);
	return 0;
}
