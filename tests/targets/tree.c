/* SPDX-License-Identifier: GPL-2.0-or-later */
/* As many different stacks as a tree has leaves: `tree LEVELS` allocates once under each of 2^LEVELS. */
#include "truth.h"

SITE static void site_leaf(void)
{
	void *block = malloc(24);

	HIDE(block);
	truth_alloc(__func__, 24);
}

SITE static int climb(int levels)
{
	int turns = 0;

	if (!levels) {
		site_leaf();
		return 1;
	}
	turns += climb(levels - 1);
	HIDE(turns);
	turns += climb(levels - 1);
	HIDE(turns);
	return turns;
}

int main(int argc, char **argv)
{
	truth_begin(NULL);
	climb(argc > 1 ? atoi(argv[1]) : 4);
	truth_end();
	return 0;
}
