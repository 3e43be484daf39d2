/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fibers that take turns between and inside of all kinds of calls, by a program that keeps its own account: `fibers apart|packed
 * [wait]`. Their stacks are mappings with gaps, or stand side by side in one. fiber_get and fiber_put, which are to be named
 * on the command line, serve from an arena and let the other fibers run while they do. FIBERS_ROUNDS is how often.
 */
#include <malloc.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "truth.h"

#define FIBERS 5
#define STACK (128ul << 10)
#define CELL 256

static ucontext_t scheduler, fibers[FIBERS];
static int current, running, rounds = 20;
static char *cells[1024];
static size_t cell_count;

/* Let the next fiber run. */
static void yield(void)
{
	swapcontext(&fibers[current], &scheduler);
}

/* What takes turns with others while it allocates. */
SITE void *fiber_get(size_t size)
{
	char *cell;

	yield();
	if (size > CELL)
		abort();
	cell = cell_count ? cells[--cell_count] : NULL;
	if (!cell) {
		cell = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
		while (cell_count < (1 << 16) / CELL - 1)
			cells[cell_count] = cell + CELL * (cell_count + 1), cell_count++;
	}
	yield();
	return cell;
}

SITE void fiber_put(void *cell)
{
	yield();
	cells[cell_count++] = cell;
}

#define SITE_OF(name, size, expression)            \
	SITE static void *site_##name(size_t size) \
	{                                          \
		void *block = expression;          \
                                                   \
		HIDE(block);                       \
		truth_alloc("site_" #name, size);  \
		return block;                      \
	}

SITE_OF(fiber, size, fiber_get(size))
SITE_OF(malloc, size, malloc(size))
SITE_OF(calloc, size, calloc(size, 1))
SITE_OF(memalign, size, memalign(64, size))
SITE_OF(mmap, size, mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))

SITE static void *site_realloc(void *old, size_t size)
{
	void *block = realloc(old, size);

	HIDE(block);
	truth_alloc("site_realloc", size);
	return block;
}

static void fiber_round(size_t n)
{
	void *blocks[4];

	blocks[0] = site_malloc(n);
	yield();
	blocks[1] = site_calloc(n + 1);
	yield();
	blocks[2] = site_fiber(n);
	blocks[3] = site_memalign(n + 2);
	yield();
	blocks[0] = site_realloc(blocks[0], 300 * n);
	truth_free("site_malloc", n);
	site_malloc(n + 3);
	yield();
	munmap(site_mmap(8192), 8192);
	truth_free("site_mmap", 8192);
	free(blocks[0]);
	truth_free("site_realloc", 300 * n);
	yield();
	free(blocks[1]);
	truth_free("site_calloc", n + 1);
	fiber_put(blocks[2]);
	truth_free("site_fiber", n);
	free(blocks[3]);
	truth_free("site_memalign", n + 2);
	site_fiber(n + 4);
}

static void fiber_main(void)
{
	int i;

	for (i = 0; i < rounds; i++)
		fiber_round((size_t)(current + 1) * 10 + (size_t)i % 7);
	running--;
}

static void run(const char *scenario)
{
	size_t distance = strcmp(scenario, "packed") ? 2 * STACK : STACK;
	char *memory = mmap(NULL, FIBERS * distance, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ended[FIBERS] = { 0 }, i, before;

	if (memory == MAP_FAILED)
		abort();
	for (i = 0; i < FIBERS; i++) {
		if (distance > STACK)
			mprotect(memory + (size_t)i * distance + STACK, STACK, PROT_NONE);
		getcontext(&fibers[i]);
		fibers[i].uc_stack.ss_sp = memory + (size_t)i * distance;
		fibers[i].uc_stack.ss_size = STACK;
		fibers[i].uc_link = &scheduler;
		makecontext(&fibers[i], fiber_main, 0);
	}
	for (running = FIBERS; running;) {
		/* Up and down, so that what is left in the middle is above and below what comes next. */
		for (i = 0; i < 2 * FIBERS; i++) {
			current = i < FIBERS ? i : 2 * FIBERS - 1 - i;
			before = running;
			if (!ended[current])
				swapcontext(&scheduler, &fibers[current]);
			ended[current] |= running < before;
		}
	}
	munmap(memory, FIBERS * distance);
}

int main(int argc, char **argv)
{
	const char *wanted = getenv("FIBERS_ROUNDS");

	if (wanted)
		rounds = atoi(wanted);
	truth_begin(argc > 2 ? argv[2] : NULL);
	run(argc > 1 ? argv[1] : "apart");
	truth_end();
	return 0;
}
