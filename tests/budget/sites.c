/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Thirteen sites: sites leak|none [REQUESTS_PER_SECOND]. Four leak 10, 1, 0.1 and 0.01 % of their blocks; four are caches that are full from the
 * start and whose blocks live for 2.5, 5, 20 and 50 s (at 3,000 requests a second); three are churn; one makes what is in flight
 * between requests, and one what lives from start to end. Churn has blocks of all sizes, those of leaks and caches included.
 */
#include "account.h"

#define RATE 3000
#define WORK 50000 /* some 120 us */
#define FLIGHT 8000
#define KEPT 50000

struct cache {
	void *(*make)(void);
	size_t slots;
	int ordered; /* the oldest block goes, not any */
	void **blocks;
	size_t next;
};

static void *flight[FLIGHT], *churn[64];
static unsigned long count;

/* Contents that differ from block to block. */
static void *fill(void *block, size_t size)
{
	memset(block, 0, size);
	*(unsigned long *)block = ++count;
	return block;
}

static size_t draw(size_t least, size_t most)
{
	return least + account_draw(&account.random) % (most - least + 1);
}

#define BLOCK_SITE(name, size)                                  \
	SITE static void *name(void)                            \
	{                                                       \
		size_t bytes = size;                            \
		void *block = fill(malloc(bytes), bytes);       \
                                                                \
		__asm__ volatile("" : : "r"(block) : "memory"); \
		return block;                                   \
	}

BLOCK_SITE(leak_tenth, 200)
BLOCK_SITE(leak_hundredth, 328)
BLOCK_SITE(leak_thousandth, 456)
BLOCK_SITE(leak_least, 104)
BLOCK_SITE(cache_2500ms, 232)
BLOCK_SITE(cache_5s, 168)
BLOCK_SITE(cache_20s, 136)
BLOCK_SITE(cache_50s, 264)
BLOCK_SITE(churn_small, draw(16, 128))
BLOCK_SITE(churn_large, draw(512, 8192))
BLOCK_SITE(churn_any, draw(16, 1024))
BLOCK_SITE(in_flight, draw(32, 512))
BLOCK_SITE(kept, draw(32, 256))

static struct cache caches[] = {
	{ cache_2500ms, 7500, 1, NULL, 0 },
	{ cache_5s, 15000, 0, NULL, 0 },
	{ cache_20s, 60000, 0, NULL, 0 },
	{ cache_50s, 150000, 1, NULL, 0 },
};

static const struct leak {
	const char *name;
	void *(*make)(void);
	size_t bytes;
	unsigned long share; /* one of so many is leaked */
} leaks[] = {
	{ "leak_tenth", leak_tenth, 200, 10 },
	{ "leak_hundredth", leak_hundredth, 328, 100 },
	{ "leak_thousandth", leak_thousandth, 456, 1000 },
	{ "leak_least", leak_least, 104, 10000 },
};

static void replace(void **slot, void *block)
{
	free(*slot);
	*slot = block;
}

static void request_leak(int number)
{
	const struct leak *leak = &leaks[number];
	void *block = leak->make();

	if (account.leaking && account_draw(&account.random) % leak->share == 0)
		account_leak(number, leak->name, leak->bytes);
	else
		replace(&churn[draw(0, 63)], block);
}

static void request_cache(struct cache *cache)
{
	size_t slot = cache->ordered ? cache->next++ % cache->slots : draw(0, cache->slots - 1);

	replace(&cache->blocks[slot], cache->make());
}

static void request(void)
{
	size_t i;

	account.sum += account_compute(&account.random, WORK);
	for (i = 0; i < 16; i++)
		request_leak((int)(i % 4));
	for (i = 0; i < sizeof(caches) / sizeof(caches[0]); i++)
		request_cache(&caches[i]);
	for (i = 0; i < 4; i++) {
		replace(&churn[draw(0, 63)], churn_small());
		replace(&churn[draw(0, 63)], churn_large());
		replace(&churn[draw(0, 63)], churn_any());
	}
	for (i = 0; i < 2; i++)
		replace(&flight[draw(0, FLIGHT - 1)], in_flight());
}

static void fill_up(void)
{
	static void *keeps[KEPT];
	size_t i, n;

	for (i = 0; i < KEPT; i++)
		keeps[i] = kept();
	for (i = 0; i < FLIGHT; i++)
		flight[i] = in_flight();
	for (i = 0; i < sizeof(caches) / sizeof(caches[0]); i++) {
		caches[i].blocks = calloc(caches[i].slots, sizeof(void *));
		for (n = 0; n < caches[i].slots; n++)
			caches[i].blocks[n] = caches[i].make();
	}
	__asm__ volatile("" : : "r"(keeps) : "memory");
}

int main(int argc, char **argv)
{
	fill_up();
	account_begin(argc, argv);
	account_serve(request, account_rate(argc, argv, RATE));
	return 0;
}
