/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allocates a number of blocks of 16 bytes and keeps them: `blocks COUNT [wait]`. */
#include "truth.h"

SITE static void *site_block(void)
{
	void *block = malloc(16);

	HIDE(block);
	truth_alloc(__func__, 16);
	return block;
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 1000, i;

	truth_begin(argc > 2 ? argv[2] : NULL);
	for (i = 0; i < count; i++)
		site_block();
	truth_end();
	return 0;
}
