/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jemalloc's own interface, under whatever prefix it was built with (PREFIX), beside the C library's malloc. The program
 * keeps its own account. `jemalloc all [wait]`.
 */
#include <stdint.h>

#include "truth.h"

#define JOIN_(left, right) left##right
#define JOIN(left, right) JOIN_(left, right)
#ifndef PREFIX
#define PREFIX
#endif
#define API(name) JOIN(PREFIX, name)

extern void *API(mallocx)(size_t size, int flags);
extern void *API(rallocx)(void *block, size_t size, int flags);
extern size_t API(xallocx)(void *block, size_t size, size_t extra, int flags);
extern void API(dallocx)(void *block, int flags);
extern void API(sdallocx)(void *block, size_t size, int flags);
extern void *API(malloc)(size_t size);
extern void API(free)(void *block);

#define ALIGN_64 6

SITE static void *site_mallocx(size_t size)
{
	void *block = API(mallocx)(size, ALIGN_64);

	HIDE(block);
	truth_alloc(__func__, size);
	return block;
}

SITE static void *site_rallocx(void *block, size_t size)
{
	block = API(rallocx)(block, size, 0);
	HIDE(block);
	truth_alloc(__func__, size);
	return block;
}

/* Does the block have the size now? */
SITE static int site_xallocx(void *block, size_t size)
{
	size_t result = API(xallocx)(block, size, 0, 0);

	HIDE(result);
	if (result >= size)
		truth_alloc(__func__, size);
	return result >= size;
}

SITE static void *site_prefixed(size_t size)
{
	void *block = API(malloc)(size);

	HIDE(block);
	truth_alloc(__func__, size);
	return block;
}

SITE static void *site_libc(size_t size)
{
	void *block = malloc(size);

	HIDE(block);
	truth_alloc(__func__, size);
	return block;
}

static void extended_round(size_t n)
{
	void *block = site_mallocx(n);

	API(dallocx)(site_mallocx(n + 1), 0);
	truth_free("site_mallocx", n + 1);
	API(sdallocx)(site_mallocx(n + 2), n + 2, ALIGN_64);
	truth_free("site_mallocx", n + 2);
	block = site_rallocx(block, 3 * n);
	truth_free("site_mallocx", n);
	if (n % 3) {
		API(dallocx)(block, 0);
		truth_free("site_rallocx", 3 * n);
	}
}

/* In its place a block can shrink, and grow within its size class; not to a megabyte. */
static void in_place_round(size_t n)
{
	void *block = site_mallocx(n + 1000);

	if (site_xallocx(block, n + 1001))
		truth_free("site_mallocx", n + 1000);
	else
		abort();
	if (site_xallocx(block, 1 << 20))
		abort();
	if (n % 2) {
		API(dallocx)(block, 0);
		truth_free("site_xallocx", n + 1001);
	}
}

int main(int argc, char **argv)
{
	size_t n;

	truth_begin(argc > 2 ? argv[2] : NULL);
	for (n = 1; n <= 20; n++) {
		extended_round(n);
		in_place_round(n);
		site_prefixed(n);
		API(free)(site_prefixed(n + 3));
		truth_free("site_prefixed", n + 3);
		site_libc(n);
		free(site_libc(n + 4));
		truth_free("site_libc", n + 4);
	}
	truth_end();
	return 0;
}
