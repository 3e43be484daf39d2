/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that leaks, in a function that the tests suppress by its name. Built with sanitizers, whose allocators walk the stack
 * of each call.
 */
#include "truth.h"

SITE static void site_leaks(size_t size)
{
	char *block = malloc(size);

	HIDE(block);
	truth_alloc(__func__, size);
}

SITE static void site_frees(size_t size)
{
	char *block = malloc(size);

	HIDE(block);
	truth_alloc(__func__, size);
	free(block);
	truth_free(__func__, size);
}

int main(int argc, char **argv)
{
	size_t i;

	truth_begin(argv[argc - 1]);
	for (i = 1; i <= 100; i++) {
		site_leaks(i);
		site_frees(2 * i);
	}
	truth_end();
	return 0;
}
