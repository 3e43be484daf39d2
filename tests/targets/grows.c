/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks that realloc resizes, some of them older than the account: `grows [wait]`. Of those the account has what was added
 * to their usable sizes, of all others the bytes that were asked for.
 */
#include <malloc.h>

#include "truth.h"

#define OLD 20
#define TIMES 14

/* Blocks from before the account begins, and what of each is in it. */
static struct {
	void *block;
	long counted;
} old[OLD];

SITE static void make_old(void)
{
	static const size_t sizes[] = { 1, 24, 100, 2000, 200000, 1000000 };
	size_t i;

	for (i = 0; i < OLD; i++)
		old[i].block = malloc(sizes[i % 6] + i);
}

SITE static void site_added(size_t i, size_t size, int is_known)
{
	long was = (long)malloc_usable_size(old[i].block), counted = old[i].counted;

	old[i].block = realloc(old[i].block, size);
	if (is_known)
		truth_free(__func__, (unsigned long)counted);
	counted += (long)malloc_usable_size(old[i].block) - was;
	if (counted > (long)size)
		counted = (long)size;
	old[i].counted = counted > 0 ? counted : 0;
	truth_alloc(__func__, (unsigned long)old[i].counted);
}

/* Some of them are freed in the end. */
static void resize_old(void)
{
	static const size_t sizes[] = { 100, 5000, 40, 70000, 400000, 3000000, 200 };
	size_t i, turn;

	for (i = 0; i < OLD; i++) {
		for (turn = 0; turn < i % 8; turn++)
			site_added(i, sizes[turn] + i, turn > 0);
		if (i % 3)
			continue;
		free(old[i].block);
		if (turn)
			truth_free("site_added", (unsigned long)old[i].counted);
	}
}

/* A container that grows TIMES times, shrinks in between, and stays. */
SITE static void *site_container(void *block, size_t from, size_t to)
{
	block = realloc(block, to);
	if (from)
		truth_free(__func__, from);
	truth_alloc(__func__, to);
	return block;
}

static void grow(void)
{
	void *block = NULL;
	size_t size = 0, i;

	for (i = 0; i <= TIMES; i++) {
		block = site_container(block, size, 1000 * (i + 1));
		size = 1000 * (i + 1);
		if (i % 5)
			continue;
		block = site_container(block, size, size - 8);
		size -= 8;
	}
	HIDE(block);
}

int main(int argc, char **argv)
{
	make_old();
	truth_begin(argc > 1 ? argv[1] : NULL);
	grow();
	usleep(200000);
	resize_old();
	truth_end();
}
