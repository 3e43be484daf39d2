/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The native part of a package: it keeps what it allocates. */
#include <stdlib.h>

extern void quickparse_keep(size_t size);
extern void quickparse_keep_more(size_t size);

static void *volatile kept;

void quickparse_keep(size_t size)
{
	kept = malloc(size);
}

void quickparse_keep_more(size_t size)
{
	kept = calloc(1, size);
}
