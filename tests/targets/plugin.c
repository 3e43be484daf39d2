/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library that leaks, to be opened and closed while it is traced. */
#include <stdlib.h>

extern void plugin_leak(size_t size);

__attribute__((noinline)) void plugin_leak(size_t size)
{
	void *volatile block = malloc(size);

	(void)block;
}
