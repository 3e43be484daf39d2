/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks by the phase in which they were born, by the program's own count. `generations`: for each line on standard input it works one
 * more phase, and prints as JSON what each of its sites holds: {"site": [[blocks, bytes] of phase 1, of phase 2, ...]}. Ends with
 * standard input. What it does depends on the number of the phase alone.
 */
#include <sys/mman.h>

#include "truth.h"

#define PHASES_MAX 8
#define BLOCKS_MAX 4096

enum { KEPT, REPLACED, ONCE, GONE, MOVED, MAPPED, SITES };

static const char *const names[SITES] = { "site_kept", "site_replaced", "site_once",
					  "site_gone", "site_moved",	"site_mapped" };

struct block {
	void *start; /* NULL = it was freed */
	size_t size;
	int site, phase;
};

static struct block blocks[BLOCKS_MAX];
static int block_count;

SITE static void *site_kept(size_t size)
{
	void *block = malloc(size);

	HIDE(block);
	return block;
}

SITE static void *site_replaced(size_t size)
{
	void *block = malloc(size);

	HIDE(block);
	return block;
}

SITE static void *site_once(size_t size)
{
	void *block = calloc(1, size);

	HIDE(block);
	return block;
}

SITE static void *site_gone(size_t size)
{
	void *block = malloc(size);

	HIDE(block);
	return block;
}

/* A block that moves stays the one that it was, and belongs to the site that has moved it. */
SITE static void *site_moved(void *start, size_t size)
{
	void *block = realloc(start, size);

	HIDE(block);
	return block;
}

SITE static void *site_mapped(size_t size)
{
	void *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	HIDE(block);
	return block;
}

static void add(int site, int phase, void *start, size_t size)
{
	if (block_count == BLOCKS_MAX || !start || start == MAP_FAILED)
		abort();
	blocks[block_count++] = (struct block){ start, size, site, phase };
}

/* Free so many blocks of a site, the oldest first. */
static void drop(int site, int count)
{
	int i;

	for (i = 0; i < block_count && count; i++) {
		if (!blocks[i].start || blocks[i].site != site)
			continue;
		free(blocks[i].start);
		blocks[i].start = NULL;
		count--;
	}
}

static void work(int phase)
{
	int i;

	for (i = 0; i < 10 + phase; i++)
		add(KEPT, phase, site_kept(100 + (size_t)phase), 100 + (size_t)phase);
	drop(KEPT, 4);
	for (i = 0; i < (phase < 3 ? 50 : 30); i++)
		add(REPLACED, phase, site_replaced(64), 64);
	drop(REPLACED, phase > 1 ? 45 : 0);
	for (i = 0; phase == 2 && i < 7; i++)
		add(ONCE, phase, site_once(1000), 1000);
	for (i = 0; phase == 1 && i < 20; i++)
		add(GONE, phase, site_gone(333), 333);
	if (phase == 3)
		drop(GONE, 20);
	for (i = 0; i < block_count && phase == 2; i++)
		if (blocks[i].start && blocks[i].site == REPLACED && blocks[i].phase == 1) {
			blocks[i].start = site_moved(blocks[i].start, 128);
			blocks[i].size = 128;
			blocks[i].site = MOVED;
		}
	add(MAPPED, phase, site_mapped(8192), 8192);
}

static void print(int phases)
{
	unsigned long count, bytes;
	int site, phase, i;

	for (site = 0; site < SITES; site++) {
		printf("%s\"%s\": [", site ? ", " : "{", names[site]);
		for (phase = 1; phase <= phases; phase++) {
			count = bytes = 0;
			for (i = 0; i < block_count; i++)
				if (blocks[i].start && blocks[i].site == site &&
				    blocks[i].phase == phase) {
					count++;
					bytes += blocks[i].size;
				}
			printf("%s[%lu, %lu]", phase > 1 ? ", " : "", count, bytes);
		}
		printf("]");
	}
	printf("}\n");
	fflush(stdout);
}

int main(void)
{
	/* The library's own buffer is not made by a phase. */
	static char buffer[1 << 16];
	int phase = 0;
	char byte;

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	while (read(0, &byte, 1) == 1)
		if (byte == '\n' && phase < PHASES_MAX) {
			work(++phase);
			print(phase);
		}
	return 0;
}
