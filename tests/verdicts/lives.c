/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program of known truth, `lives NAME`: blocks of site_work() that live as NAME says. A line begins the work, the next one ends
 * it. Prints {"event": NAME, "time": SECONDS} when a leak begins or a cache is full, by CLOCK_MONOTONIC, and at the end its account: blocks that
 * were born, freed, kept for ever, and the mean lifespan of the freed ones.
 */
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TICK_MS 2
#define KEYS 5000

struct block {
	double birth, death;
	void *memory;
};

enum life { LIFE_FIXED, LIFE_EVEN, LIFE_EXPONENTIAL };

struct program {
	const char *name;
	void (*birth)(double time);
	double rate; /* births per second */
	double mean; /* lifespan of what is freed, seconds */
	double share; /* of the blocks, as the birth function has it */
	enum life life;
	double number; /* entries of a cache, seconds of a period */
	double from; /* a leak begins after so many seconds */
};

static const struct program *program;
static double begin;
static unsigned long births, freed, kept;
static double lives;
/* Blocks that will be freed: a heap by death. */
static struct block *heap;
static size_t count, room;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void note(const char *event)
{
	printf("{\"event\": \"%s\", \"time\": %.6f}\n", event, now());
	fflush(stdout);
}

static double chance(void)
{
	return drand48();
}

static double exponential(double mean)
{
	return -mean * log(1 - chance());
}

static double life(void)
{
	switch (program->life) {
	case LIFE_EVEN:
		return 2 * program->mean * chance();
	case LIFE_EXPONENTIAL:
		return exponential(program->mean);
	default:
		return program->mean;
	}
}

__attribute__((noinline)) static void *site_work(size_t size)
{
	void *memory = malloc(size);

	if (!memory)
		abort();
	*(volatile char *)memory = 1;
	births++;
	return memory;
}

static struct block make(double time)
{
	return (struct block){ .birth = time, .memory = site_work(16 + (size_t)(chance() * 240)) };
}

static void end(struct block *block, double time)
{
	free(block->memory);
	block->memory = NULL;
	lives += time - block->birth;
	freed++;
}

static void swap(size_t a, size_t b)
{
	struct block block = heap[a];

	heap[a] = heap[b];
	heap[b] = block;
}

static void later(struct block block, double death)
{
	size_t i = count;

	if (count == room) {
		/* Of another site than the blocks. */
		room = room ? 2 * room : 1 << 17;
		heap = realloc(heap, room * sizeof(*heap));
		if (!heap)
			abort();
	}
	block.death = death;
	heap[count++] = block;
	for (; i && heap[i].death < heap[(i - 1) / 2].death; i = (i - 1) / 2)
		swap(i, (i - 1) / 2);
}

static void end_due(double time)
{
	size_t i, least;

	while (count && heap[0].death <= time) {
		end(&heap[0], heap[0].death);
		heap[0] = heap[--count];
		for (i = 0;; i = least) {
			least = i;
			if (2 * i + 1 < count && heap[2 * i + 1].death < heap[least].death)
				least = 2 * i + 1;
			if (2 * i + 2 < count && heap[2 * i + 2].death < heap[least].death)
				least = 2 * i + 2;
			if (least == i)
				break;
			swap(i, least);
		}
	}
}

/* The block is kept for ever. The first one says that the leak has begun. */
static void keep(double time)
{
	if (!kept++)
		note("leak");
	make(time);
}

static void birth_leak(double time)
{
	if (time - begin >= program->from && chance() < program->share)
		keep(time);
	else
		later(make(time), time + life());
}

/* What leaks comes in bursts, `number` seconds from each other on average. */
static void birth_bursts(double time)
{
	static double burst;
	int i;

	burst = burst > 0 ? burst : time + exponential(program->number);
	later(make(time), time + life());
	if (time < burst)
		return;
	for (i = 0; i < (int)(program->rate * program->share * program->number); i++)
		keep(time);
	burst = time + exponential(program->number);
}

/* Load goes down and up, from twice the rate to nothing, in `number` seconds. */
static void birth_load(double time)
{
	int i;

	for (i = 0; i < 2; i++)
		if (chance() < 0.5 + 0.5 * cos(2 * M_PI * (time - begin) / program->number))
			birth_leak(time);
}

/* An entry of a cache: it takes the place of the one at `at`. */
static void enter(struct block *entries, size_t at, double time)
{
	static size_t used;

	if (entries[at].memory)
		end(&entries[at], time);
	else if (++used == (size_t)program->number)
		note("full");
	entries[at] = make(time);
}

static struct block cache[1000000];

static void birth_fifo(double time)
{
	static size_t next;

	enter(cache, next++ % (size_t)program->number, time);
}

static void birth_random(double time)
{
	static size_t used;

	enter(cache, used < (size_t)program->number ? used++ : (size_t)(chance() * program->number),
	      time);
}

/* At the place of the cache's entries blocks are made that are soon freed. */
static void birth_mixed(double time)
{
	if (chance() < program->share)
		birth_fifo(time);
	else
		later(make(time), time + program->mean);
}

static void evict(double *used, double time)
{
	size_t oldest = KEYS, i;

	for (i = 0; i < KEYS; i++)
		if (cache[i].memory && (oldest == KEYS || used[i] < used[oldest]))
			oldest = i;
	end(&cache[oldest], time);
}

/* An LRU cache of keys of which small ones are wanted far more often. With `share`, a hit replaces its entry that often. */
static void birth_lru(double time)
{
	static double used[KEYS];
	static size_t entries;
	size_t key = (size_t)exp(chance() * log(KEYS)) - 1;

	if (cache[key].memory && chance() >= program->share) {
		used[key] = time;
		return;
	}
	if (cache[key].memory)
		end(&cache[key], time);
	else if (entries == (size_t)program->number)
		evict(used, time);
	else if (++entries == (size_t)program->number)
		note("full");
	used[key] = time;
	cache[key] = make(time);
}

/* Entries live for `mean`, a share of them far less; cleaned `number` times a second. */
static void birth_ttl(double time)
{
	static int full;
	double death = (floor((time + program->mean) * program->number) + 1) / program->number;

	if (!full && time - begin > program->mean + 1 / program->number) {
		full = 1;
		note("full");
	}
	later(make(time), chance() < program->share ? time + exponential(0.02) : death);
}

/* A pool makes blocks for as many as were ever used at once. */
static void birth_pool(double time)
{
	static double used, most;

	used += chance() < used / (2 * program->number) ? -1 : 1;
	for (; most < used; most++)
		make(time);
}

/* Blocks in the first `number` seconds, of which a share is freed. */
static void birth_start(double time)
{
	static int over;

	if (time - begin < program->number) {
		struct block block = make(time);

		if (chance() < program->share)
			later(block, time + life());
	} else if (!over) {
		over = 1;
		note("full");
	}
}

/* All are freed together, every `number` seconds; a share of them after `mean`. */
static void birth_saw(double time)
{
	double death = begin + (floor((time - begin) / program->number) + 1) * program->number;

	later(make(time), chance() < program->share ? time + program->mean : death);
}

/* Requests of 50 blocks, which are freed together. */
static void birth_arena(double time)
{
	static double death;
	static int left;

	if (!left) {
		left = 50;
		death = time + 0.05 + life();
	}
	left--;
	later(make(time), fmax(death, time));
}

static void birth_temporary(double time)
{
	struct block block = make(time);

	end(&block, time);
}

/* A hash table of `number` possible keys: those that are new stay. With `share`, blocks for known ones are freed at once. */
static void birth_keys(double time)
{
	static double known;

	if (chance() * program->number > known) {
		make(time);
		if (++known == floor(0.9 * program->number))
			note("full");
	} else if (program->share > 0) {
		birth_temporary(time);
	}
}

/* The array of a growing table: each is twice as large as the last one, which is freed then. */
static void birth_table(double time)
{
	static struct block array;
	static double keys, size;

	if (++keys < size)
		return;
	size = size > 0 ? 2 * size : 8;
	if (array.memory)
		end(&array, time);
	array.birth = time;
	array.memory = site_work((size_t)size * 16);
}

/* Buffers that are made at the start. */
static void birth_few(double time)
{
	if (births < (unsigned long)program->number)
		make(time);
}

static const struct program programs[] = {
	{ "leak-100", birth_leak, 100, 0.5, 1 },
	{ "leak-90", birth_leak, 200, 0.5, 0.9 },
	{ "leak-50", birth_leak, 200, 0.5, 0.5 },
	{ "leak-10", birth_leak, 300, 0.5, 0.1, LIFE_EVEN },
	{ "leak-5", birth_leak, 1000, 0.5, 0.05, LIFE_EVEN },
	{ "leak-1", birth_leak, 2000, 0.5, 0.01, LIFE_EVEN },
	{ "leak-0.1", birth_leak, 6000, 1, 0.001 },
	{ "leak-late", birth_leak, 1000, 0.5, 0.05, LIFE_EVEN, .from = 8 },
	{ "leak-bursts", birth_bursts, 400, 0.8, 0.05, .number = 0.7 },
	{ "leak-load", birth_load, 1000, 0.5, 0.05, LIFE_EVEN, 4 },
	{ "leak-sessions", birth_leak, 1000, 1.2, 0.02, LIFE_EVEN },
	{ "lru-filling", birth_fifo, 200, .number = 1000000 },
	{ "lru-full", birth_fifo, 400, .number = 1000 },
	{ "lru-full-late", birth_fifo, 200, .number = 2000 },
	{ "lru-zipf-full", birth_lru, 600, .number = 400 },
	{ "lru-zipf-filling", birth_lru, 600, .number = KEYS },
	{ "lru-hits-replace", birth_lru, 600, 0, 1, .number = 400 },
	{ "lru-misses-freed", birth_mixed, 400, 0.002, 0.5, .number = 600 },
	{ "random-replacement", birth_random, 400, .number = 600 },
	{ "ttl", birth_ttl, 200, 3, .number = 4 },
	{ "ttl-some-dropped", birth_ttl, 200, 3, 0.5, .number = 4 },
	{ "pool", birth_pool, 500, .number = 100 },
	{ "warm-up", birth_start, 300, .number = 4 },
	{ "warm-up-others", birth_start, 300, 0.1, 0.5, .number = 4 },
	{ "saw-tooth", birth_saw, 300, .number = 2.3 },
	{ "saw-tooth-others", birth_saw, 300, 0.05, 0.7, .number = 2.3 },
	{ "sessions", birth_leak, 200, 1.5, 0, LIFE_EXPONENTIAL },
	{ "sessions-load", birth_load, 300, 1, 0, LIFE_EVEN, 4 },
	{ "arenas", birth_arena, 1000, 0.7, 0, LIFE_EVEN },
	{ "temporary", birth_temporary, 2000 },
	{ "hash-keys", birth_keys, 300, .number = 3000 },
	{ "hash-keys-known", birth_keys, 600, 0, 1, .number = 4000 },
	{ "hash-array", birth_table, 2000 },
	{ "buffers", birth_few, 200, .number = 40 },
};

static int is_asked(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&input, 1, TICK_MS) > 0;
}

/* A line, or the end. */
static void wait_line(void)
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n')
		;
}

static const struct program *find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		if (!strcmp(programs[i].name, name))
			return &programs[i];
	return NULL;
}

int main(int arguments, char **words)
{
	static char text[4096];
	double next, time;

	program = arguments > 1 ? find(words[1]) : NULL;
	if (!program) {
		fprintf(stderr, "usage: lives NAME\n");
		return 2;
	}
	setvbuf(stdout, text, _IOFBF, sizeof(text));
	srand48(arguments > 2 ? atol(words[2]) : 1);
	wait_line();
	begin = next = now();
	note("begin");
	while (!is_asked()) {
		time = now();
		for (; next <= time; next += exponential(1 / program->rate)) {
			end_due(next);
			program->birth(next);
		}
		end_due(time);
	}
	wait_line();
	printf("{\"born\": %lu, \"freed\": %lu, \"kept\": %lu, \"life_s\": %.6f}\n", births, freed,
	       kept, freed ? lives / (double)freed : 0);
	fflush(stdout);
	wait_line();
	return 0;
}
