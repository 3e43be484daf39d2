/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that nobody knows: a pool of blocks of one size, which begins where its memory begins; one that hands its
 * blocks out by a pointer; one whose numbers are ints; wrappers of malloc, whose blocks are also freed by free itself. The program keeps its own
 * account. `pools all [wait]`.
 */
#include "truth.h"

#define CELL 48
#define CELLS 256

static char *pool_memory;
static void *pool_free_list;
static size_t pool_used;

SITE void *pool_get(void)
{
	void *cell = pool_free_list;

	if (cell)
		pool_free_list = *(void **)cell;
	else
		cell = pool_memory + CELL * pool_used++;
	HIDE(cell);
	return cell;
}

SITE void pool_put(int unused, void *cell)
{
	HIDE(unused);
	*(void **)cell = pool_free_list;
	pool_free_list = cell;
}

SITE int take(size_t count, size_t size, void **ret)
{
	static char memory[1 << 20];
	static size_t used;

	if (count * size > sizeof(memory) - used)
		return -1;
	*ret = memory + used;
	used += (count * size + 15) & ~(size_t)15;
	HIDE(ret);
	return 0;
}

SITE void *ints(unsigned int count, unsigned int size)
{
	void *block = malloc((size_t)count * size);

	HIDE(block);
	return block;
}

SITE void *xmalloc(size_t size)
{
	void *block = malloc(size);

	HIDE(block);
	return block;
}

SITE void xfree(void *block)
{
	free(block);
	HIDE(block);
}

SITE void *xgrow(size_t size, void *old)
{
	void *block = realloc(old, size);

	HIDE(block);
	return block;
}

SITE static void *site_pool(void)
{
	void *cell = pool_get();

	HIDE(cell);
	truth_alloc(__func__, CELL);
	return cell;
}

SITE static void *site_take(size_t count, size_t size)
{
	void *block = NULL;

	if (take(count, size, &block) == 0)
		truth_alloc(__func__, count * size);
	return block;
}

/* As compilers may, with anything in the upper halves of the arguments' registers. */
SITE static void *site_ints(unsigned int count, unsigned int size)
{
	void *(*call)(size_t, size_t) = (void *(*)(size_t, size_t))(size_t)ints;
	void *block = call(count | (size_t)7 << 32, size | (size_t)9 << 40);

	HIDE(block);
	truth_alloc(__func__, (size_t)count * size);
	return block;
}

SITE static void *site_xmalloc(size_t size)
{
	void *block = xmalloc(size);

	HIDE(block);
	truth_alloc(__func__, size);
	return block;
}

SITE static void *site_xgrow(size_t size, void *old)
{
	void *block = xgrow(size, old);

	HIDE(block);
	truth_alloc(__func__, size);
	return block;
}

SITE static void *site_malloc(size_t size)
{
	void *block = malloc(size);

	HIDE(block);
	truth_alloc(__func__, size);
	return block;
}

static void pool_round(size_t n)
{
	void *cell = site_pool();

	pool_put(0, site_pool());
	truth_free("site_pool", CELL);
	if (n % 4 == 0) {
		pool_put(0, cell);
		truth_free("site_pool", CELL);
	}
	site_take(n, 8);
	site_take(1 << 20, 8);
	free(site_ints((unsigned int)n, 3));
	truth_free("site_ints", n * 3);
	site_ints((unsigned int)n, 5);
}

static void wrapper_round(size_t n)
{
	void *block = site_xmalloc(n);

	xfree(site_xmalloc(n + 1));
	truth_free("site_xmalloc", n + 1);
	free(site_xmalloc(n + 2));
	truth_free("site_xmalloc", n + 2);
	xfree(site_malloc(n + 3));
	truth_free("site_malloc", n + 3);
	block = site_xgrow(2 * n, block);
	truth_free("site_xmalloc", n);
	if (n % 2) {
		free(block);
		truth_free("site_xgrow", 2 * n);
	}
}

int main(int argc, char **argv)
{
	size_t n;

	truth_begin(argc > 2 ? argv[2] : NULL);
	pool_memory = site_malloc(CELL * CELLS);
	for (n = 1; n <= 100; n++) {
		pool_round(n);
		wrapper_round(n);
	}
	truth_end();
	return 0;
}
