/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that are inlined from a header into each other, loops around them. */
extern void *volatile sink;
void *keep(void *block, int number);
static inline __attribute__((always_inline)) void *inner(int n)
{
	return keep(sink, n + 1);
}
static inline __attribute__((always_inline)) void *middle(int n)
{
	for (int i = 0; i < n; i++)
		sink = inner(i);
	return inner(n * 3);
}
