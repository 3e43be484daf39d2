/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Leaks among much else: drip leak|none|cache|written|again. Some 800,000 blocks a second, nearly all of them soon freed; a cache of
 * 20,000 that turns over in a second; and three sites of which each leaks a share: leak_most, leak_some, leak_few. For each line of its
 * input it prints its own counts: name, blocks that were leaked. Ends when its input does. With none, it leaks only from a line on that
 * begins with an l. With cache, the blocks of the cache are of the size of those that leak_most leaks, and it turns over in some
 * seconds. With written, only leak_most leaks, and all that it has leaked is written to again and again. With again, it executes itself
 * every 0.3 s, its last argument is how often it has, and it has no counts.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define CHURN 64
#define CACHE 20000
#define TURN 1000 /* of blocks, between two rests */
#define KEPT_MAX (1 << 20)
#define WRITES 2000 /* in a turn: far more than blocks are leaked in one */

static struct leak {
	const char *name;
	unsigned long leaked;
} leaks[] = { { "leak_most", 0 }, { "leak_some", 0 }, { "leak_few", 0 } };

static size_t cached_size = 408;
static int cached_turns = 10; /* each so many blocks, one of the cache is replaced */

static void *cache[CACHE], *churn[CHURN];
static int writing;
static unsigned long
	*kept[KEPT_MAX]; /* leaked, and written to; when it is full, nothing more is leaked */
static size_t kept_count, kept_next;
static unsigned long state = 88172645463325252UL, count;

static unsigned long draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

/* Contents that differ from block to block. */
static void *fill(void *block, size_t size)
{
	unsigned long *words = block;

	memset(block, 0, size);
	words[0] = ++count;
	return block;
}

NOINLINE void *leak_most(void)
{
	void *block = fill(malloc(104), 104);

	__asm__ volatile("");
	return block;
}

NOINLINE void *leak_some(void)
{
	void *block = fill(malloc(200), 200);

	__asm__ volatile("");
	return block;
}

NOINLINE void *leak_few(void)
{
	void *block = fill(malloc(312), 312);

	__asm__ volatile("");
	return block;
}

NOINLINE void *make_churn(void)
{
	size_t size = 16 + draw() % 500;
	void *block = fill(malloc(size), size);

	__asm__ volatile("");
	return block;
}

NOINLINE void *make_cached(void)
{
	void *block = fill(malloc(cached_size), cached_size);

	__asm__ volatile("");
	return block;
}

static void keep(unsigned long *block)
{
	kept[kept_count++] = block;
}

/* No block is ever as it was before. */
static void write_kept(void)
{
	int i;

	for (i = 0; i < WRITES && kept_count; i++)
		kept[kept_next++ % kept_count][1]++;
}

/* One of `share` is leaked, the others are freed after a while, as other blocks are. */
static void turn_leak(struct leak *leak, void *block, unsigned long share, int leaking)
{
	void **slot = &churn[draw() % CHURN];

	if (leaking && draw() % share == 0) {
		leak->leaked++;
		if (writing)
			keep(block);
		return;
	}
	free(*slot);
	*slot = block;
}

static void turn(int leaking)
{
	void **slot;
	int i;

	for (i = 0; i < TURN; i++) {
		slot = &churn[draw() % CHURN];
		free(*slot);
		*slot = make_churn();
		if (i % cached_turns == 0) {
			slot = &cache[draw() % CACHE];
			free(*slot);
			*slot = make_cached();
		}
		if (i % 4 == 1)
			turn_leak(&leaks[0], leak_most(), 10, leaking && kept_count < KEPT_MAX);
		if (i % 4 == 2)
			turn_leak(&leaks[1], leak_some(), 40, leaking && !writing);
		if (i % 4 == 3)
			turn_leak(&leaks[2], leak_few(), 160, leaking && !writing);
	}
	write_kept();
}

static void print_counts(void)
{
	size_t i;

	for (i = 0; i < sizeof(leaks) / sizeof(leaks[0]); i++)
		printf("%s %lu\n", leaks[i].name, leaks[i].leaked);
	printf("end\n");
	fflush(stdout);
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* It has been executed `times` times before. */
static int execute(int times)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", times + 1);
	execl("/proc/self/exe", "drip", "again", number, (char *)NULL);
	return 1;
}

static int leak_again(int times)
{
	struct pollfd input = { .fd = 0, .events = POLLIN };
	double end_s = now_s() + 0.3;

	while (now_s() < end_s && poll(&input, 1, 0) <= 0)
		turn(1);
	return poll(&input, 1, 0) > 0 ? 0 : execute(times);
}

int main(int argc, char **argv)
{
	struct pollfd input = { .fd = 0, .events = POLLIN };
	const struct timespec rest = { .tv_nsec = 1000000 };
	int leaking = argc > 1 && strcmp(argv[1], "none") != 0;
	char line[64];

	if (argc > 1 && !strcmp(argv[1], "cache")) {
		cached_size = 104;
		cached_turns = 100;
	}
	writing = argc > 1 && !strcmp(argv[1], "written");
	if (argc > 2)
		return leak_again(atoi(argv[2]));
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	if (argc > 1 && !strcmp(argv[1], "again"))
		return leak_again(0);
	for (;;) {
		turn(leaking);
		nanosleep(&rest, NULL);
		if (poll(&input, 1, 0) <= 0)
			continue;
		if (read(0, line, sizeof(line)) <= 0)
			break;
		leaking |= line[0] == 'l';
		print_counts();
	}
	return 0;
}
