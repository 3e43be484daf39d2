/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions that many allocators have under a prefix of their own (PREFIX), called by these names beside the C
 * library's. The program keeps its own account. `interface all [wait]`.
 */
#include "truth.h"

#define JOIN_(left, right) left##right
#define JOIN(left, right) JOIN_(left, right)
#define API(name) JOIN(PREFIX, name)

extern void *API(malloc)(size_t size);
extern void *API(calloc)(size_t count, size_t size);
extern void *API(realloc)(void *block, size_t size);
extern int API(posix_memalign)(void **ret, size_t alignment, size_t size);
extern void API(free)(void *block);

SITE static void *site_malloc(size_t size)
{
	void *block = API(malloc)(size);

	HIDE(block);
	truth_alloc(__func__, size);
	return block;
}

SITE static void *site_calloc(size_t count, size_t size)
{
	void *block = API(calloc)(count, size);

	HIDE(block);
	truth_alloc(__func__, count * size);
	return block;
}

SITE static void *site_realloc(void *old, size_t size)
{
	void *block = API(realloc)(old, size);

	HIDE(block);
	truth_alloc(__func__, size);
	return block;
}

SITE static void *site_posix_memalign(size_t size)
{
	void *block = NULL;

	if (API(posix_memalign)(&block, 64, size))
		abort();
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

static void interface_round(size_t n)
{
	void *block = site_malloc(n);

	API(free)(site_malloc(n + 1));
	truth_free("site_malloc", n + 1);
	block = site_realloc(block, 20 * n);
	truth_free("site_malloc", n);
	if (n % 2) {
		API(free)(block);
		truth_free("site_realloc", 20 * n);
	}
	site_realloc(NULL, n);
	site_calloc(n, 7);
	API(free)(site_calloc(3, n));
	truth_free("site_calloc", 3 * n);
	site_posix_memalign(n);
	API(free)(site_posix_memalign(n + 9));
	truth_free("site_posix_memalign", n + 9);
	site_libc(n);
	free(site_libc(2 * n));
	truth_free("site_libc", 2 * n);
}

int main(int argc, char **argv)
{
	size_t n;

	truth_begin(argc > 2 ? argv[2] : NULL);
	for (n = 1; n <= 100; n++)
		interface_round(n);
	truth_end();
	return 0;
}
