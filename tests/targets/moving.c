/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What looks like a program in Go: it has the table by which Go knows its functions, and one of them is named as Go names
 * them. Its blocks are of an array.
 */
#include "truth.h"

__attribute__((used, section(".gopclntab"))) static const char table[] = "\xf1\xff\xff\xff";

static char memory[100][64];

SITE void *go_get(size_t size, int index) __asm__("main.get");
SITE void *c_get(size_t size, int index);
SITE void go_put(void *block) __asm__("main.put");

void *go_get(size_t size, int index)
{
	HIDE(size);
	return memory[index];
}

void *c_get(size_t size, int index)
{
	HIDE(size);
	return memory[index];
}

void go_put(void *block)
{
	HIDE(block);
}

SITE static void *site_get(size_t size, int index)
{
	void *block = c_get(size, index);

	HIDE(block);
	truth_alloc(__func__, size);
	return block;
}

int main(int argc, char **argv)
{
	int i;

	truth_begin(argv[argc - 1]);
	for (i = 0; i < 100; i++) {
		void *block = site_get((size_t)i, i);

		if (i % 4)
			continue;
		go_put(block);
		truth_free("site_get", (size_t)i);
	}
	HIDE(i);
	if (i == 1000)
		go_get(1, 1);
	truth_end();
	return 0;
}
