/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program whose malloc is an allocator that publishes samples (sampled.c), while functions of the C library
 * call it: "replaced [wait]". All that they make is freed, by the allocator.
 */
#include <stdlib.h>

#include "truth.h"

SITE static void array(void)
{
	void *block = reallocarray(NULL, 10, 100);

	HIDE(block);
	block = reallocarray(block, 20, 100);
	HIDE(block);
	free(block);
}

int main(int argc, char **argv)
{
	int i;

	truth_begin(argc > 1 ? argv[argc - 1] : "");
	for (i = 0; i < 1000; i++)
		array();
	truth_site("array");
	truth_end();
	return 0;
}
