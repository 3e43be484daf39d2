/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that is free in malloc and not given back, `fragments stays|grows|both [wait]`, until standard input is closed:
 *
 *   stays   of blocks that fill PAGES pages one in each page is kept, the others are freed; what is free does not grow
 *   grows   a cache of ENTRIES, behind each of which a small block keeps its place apart from others: one after the other is replaced
 *           by an entry that is a little larger, and for which no place that has become free is large enough; slower and slower, so that
 *           what is free grows by a seventh whenever twice the time has passed, for five minutes
 *   both    the same, and of small blocks one in twenty is never freed
 *
 * But for these, what is in use does not grow. Blocks that are freed at once are allocated all the time.
 */
#include <time.h>

#include "truth.h"

#define PAGES 1024
#define PAGE 4096
#define BLOCK 512 /* with malloc's header */
#define HEADER 8

#define ENTRIES 4000
#define ENTRY 1500
#define LARGER (ENTRY + 16)
#define AT_ONCE (ENTRIES * 4 / 10) /* replaced at first: more is free by that than is little */
#define PACE_S 3.0

#define LIVES 20
#define LEAKS 20 /* of so many blocks one is never freed */
#define REST_MS 4

SITE static void *site_page(void)
{
	void *block = malloc(BLOCK - HEADER);

	HIDE(block);
	return block;
}

SITE static void *site_entry(size_t size)
{
	void *block = malloc(size);

	HIDE(block);
	return block;
}

SITE static void *site_apart(void)
{
	void *block = malloc(24);

	HIDE(block);
	return block;
}

SITE static void *site_leak(void)
{
	void *block = malloc(100);

	HIDE(block);
	return block;
}

SITE static void *site_temporary(void)
{
	void *block = malloc(400);

	HIDE(block);
	return block;
}

static void keep_one_of_each_page(void)
{
	static void *blocks[PAGES * (PAGE / BLOCK)];
	size_t i;

	for (i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
		memset(blocks[i] = site_page(), 1, BLOCK - HEADER);
	for (i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
		if (i % (PAGE / BLOCK) != PAGE / BLOCK - 1)
			free(blocks[i]);
}

static void *entries[ENTRIES], *apart[ENTRIES];

/* In the place of another one, if there is one. */
SITE static void put(size_t i, size_t size)
{
	void *entry = site_entry(size);

	memset(entry, 1, size);
	free(entries[i]);
	entries[i] = entry;
	if (!apart[i])
		apart[i] = site_apart();
}

SITE static void turn(size_t number)
{
	/* Read, so that the compiler makes one call of it, and one site. */
	static volatile const size_t sizes[] = { ENTRY, LARGER };

	put(number % ENTRIES, sizes[number / ENTRIES]);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* So many are replaced: AT_ONCE by the fifth root of the time, so far as that has passed. */
static int is_due(size_t number, double passed)
{
	const double part = ((double)number - ENTRIES) / AT_ONCE;

	return part < 1 ||
	       (number < 2 * ENTRIES && PACE_S * (part * part * part * part * part - 1) < passed);
}

static void leak(size_t number)
{
	static void *lives[LIVES], *leaked;
	void *block = site_leak();

	if (number % LEAKS == 3) {
		*(void **)block = leaked;
		leaked = block;
	} else {
		free(lives[number % LIVES]);
		lives[number % LIVES] = block;
	}
}

int main(int count, char **arguments)
{
	const char *mode = count > 1 ? arguments[1] : "stays";
	const int grows = strcmp(mode, "stays") != 0, leaks = !strcmp(mode, "both");
	size_t number = 0, blocks = 0;
	double start;

	truth_begin(count > 2 ? arguments[2] : NULL);
	start = seconds();
	if (!grows)
		keep_one_of_each_page();
	while (!truth_is_closed(REST_MS)) {
		free(site_temporary());
		while (grows && is_due(number, seconds() - start))
			turn(number++);
		if (leaks)
			leak(blocks++);
	}
	return 0;
}
