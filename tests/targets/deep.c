/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sites whose frames are worth comparing: deep recursion, functions that the compiler inlines, many different stacks.
 * `deep DEPTH SITES [wait]`.
 */
#include "truth.h"

static inline __attribute__((always_inline)) void *inner_inlined(size_t size)
{
	return malloc(size);
}

static inline __attribute__((always_inline)) void *outer_inlined(size_t size)
{
	return inner_inlined(size + 1);
}

SITE static void *site_inlined(size_t size)
{
	void *block = outer_inlined(size);

	HIDE(block);
	truth_alloc(__func__, size + 1);
	return block;
}

SITE static void *site_deep(int depth)
{
	void *block;

	if (depth > 1) {
		block = site_deep(depth - 1);
		HIDE(block);
		return block;
	}
	block = malloc(19);
	HIDE(block);
	truth_alloc(__func__, 19);
	return block;
}

int main(int argc, char **argv)
{
	int depth = argc > 1 ? atoi(argv[1]) : 10, sites = argc > 2 ? atoi(argv[2]) : 1, i;

	truth_begin(argc > 3 ? argv[3] : NULL);
	site_inlined(99);
	for (i = 0; i < sites; i++)
		site_deep(depth + i);
	truth_end();
	return 0;
}
