/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Static and exported functions with inlined ones of this file and of a header. */
#include "inline.h"
void *volatile sink;
__attribute__((noinline)) void *keep(void *block, int number)
{
	sink = (char *)block + number;
	return sink;
}
static inline __attribute__((always_inline)) int twice(int n)
{
	{
		int m = n * 2;
		sink = middle(m);
	}
	return middle(n) != 0;
}
static __attribute__((noinline)) int hidden_one(int n)
{
	return twice(n) + (inner(n) != 0);
}
int exported_one(int n)
{
	return hidden_one(n) + twice(n + 1);
}
#ifndef LIBRARY
int main(int argc, char **argv)
{
	return exported_one(argc) + !argv + (middle(argc) != 0);
}
#endif
