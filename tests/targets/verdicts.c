/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sites of known truth, all at work until standard input is closed, `verdicts [wait]`: a leak of one block in a hundred, whose others live until 20 more are
 * born; a cache of CACHE entries that replaces its oldest one; buffers that are made once; blocks that are freed at once.
 */
#include "truth.h"

#define TURNS 40 /* of each rest */
#define REST_MS 5
#define LIVES 20
#define CACHE 500
#define BUFFERS 30

SITE static void *site_leak(void)
{
	void *block = malloc(100);

	HIDE(block);
	return block;
}

SITE static void *site_cache(void)
{
	void *block = malloc(200);

	HIDE(block);
	return block;
}

SITE static void *site_buffer(void)
{
	void *block = malloc(3000);

	HIDE(block);
	return block;
}

SITE static void *site_temporary(void)
{
	void *block = malloc(400);

	HIDE(block);
	return block;
}

static void turn(unsigned long number)
{
	static void *lives[LIVES], *cache[CACHE], *leaked;
	void *block = site_leak();

	if (number % 100 == 7) {
		*(void **)block = leaked; /* it is never freed, */
		leaked = block;
	} else {
		free(lives[number % LIVES]); /* and the others soon */
		lives[number % LIVES] = block;
	}
	if (number % 4 == 0) {
		free(cache[number / 4 % CACHE]);
		cache[number / 4 % CACHE] = site_cache();
	}
	free(site_temporary());
}

int main(int count, char **arguments)
{
	static void *buffers[BUFFERS];
	unsigned long number = 0;
	int i;

	truth_begin(count > 1 ? arguments[1] : NULL);
	for (i = 0; i < BUFFERS; i++)
		buffers[i] = site_buffer();
	while (!truth_is_closed(REST_MS) && buffers[0])
		for (i = 0; i < TURNS; i++)
			turn(number++);
	return 0;
}
