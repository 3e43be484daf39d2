/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lifespans and temporary allocations, by the program's own count. `lives spans|temporary|threads [wait]`; prints its account as
 * JSON, and waits until standard input is closed.
 *
 * A block is born between the times before and after its allocation, and dies between those before and after its free. So there is a
 * shortest and a longest lifespan that a tracer may see, in units of 65,536 ns, and the block is in a class for certain if both are.
 * However slow the machine is, that holds; and the program goes on until each class has enough blocks that are certain.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <time.h>

#include "truth.h"

#define UNIT_BITS 16
#define CLASSES 32
#define FIRST 4 /* class: from 0.5 ms on */
#define LAST 9 /* up to 34 ms */
#define ENOUGH 6 /* blocks of each class */
#define KEPT 8
#define TURNS 50

struct spans {
	unsigned long certain[CLASSES]; /* blocks */
	unsigned long possible[CLASSES]; /* those that may be in the class, or in another one */
	unsigned long least_units, most_units; /* sum of the lifespans */
	unsigned long longest_least, longest_most;
	unsigned long objects;
};

static struct spans spans;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static unsigned int class_of(uint64_t units)
{
	return units ? 64 - (unsigned int)__builtin_clzll(units) : 0;
}

/* The kernel's clock for probes may be off by less than a unit. */
static void count(uint64_t least, uint64_t most)
{
	unsigned int i;

	least -= least > 0;
	most++;
	spans.objects++;
	spans.least_units += least;
	spans.most_units += most;
	if (least > spans.longest_least)
		spans.longest_least = least;
	if (most > spans.longest_most)
		spans.longest_most = most;
	for (i = class_of(least); i <= class_of(most); i++)
		(class_of(least) == class_of(most) ? spans.certain : spans.possible)[i]++;
}

SITE static void *site_lives(void)
{
	void *block = malloc(100);

	HIDE(block);
	return block;
}

SITE static void *site_stays(void)
{
	void *block = malloc(200);

	HIDE(block);
	return block;
}

static void live_once(unsigned int class)
{
	/* A third into the class. */
	uint64_t wanted = ((uint64_t)4 << (class - 1) << UNIT_BITS) / 3, before, after, end;
	struct timespec rest;
	void *block;

	before = now();
	block = site_lives();
	after = now();
	while ((end = now()) - after < wanted) {
		rest = (struct timespec){ .tv_nsec = (long)(wanted - (end - after)) };
		nanosleep(&rest, NULL);
	}
	free(block);
	count((end >> UNIT_BITS) - (after >> UNIT_BITS),
	      (now() >> UNIT_BITS) - (before >> UNIT_BITS));
}

static void print_classes(const char *name, const unsigned long *classes)
{
	unsigned int i;

	printf(", \"%s\": [", name);
	for (i = 0; i < CLASSES; i++)
		printf("%s%lu", i ? ", " : "", classes[i]);
	printf("]");
}

static void scenario_spans(void)
{
	unsigned int i;

	for (i = 0; i < KEPT; i++) {
		HIDE(i); /* one call for all */
		site_stays();
	}
	for (i = FIRST; i <= LAST; i++)
		while (spans.certain[i] < ENOUGH)
			live_once(i);
	printf("{\"objects\": %lu, \"kept\": %d, \"least_units\": %lu, \"most_units\": %lu, "
	       "\"longest_least\": %lu, "
	       "\"longest_most\": %lu",
	       spans.objects, KEPT, spans.least_units, spans.most_units, spans.longest_least,
	       spans.longest_most);
	print_classes("certain", spans.certain);
	print_classes("possible", spans.possible);
	printf("}\n");
}

/* Each of these has a number of temporary allocations that follows from its code. */

SITE static void *site_next(void)
{
	void *block = malloc(10);

	HIDE(block);
	return block;
}

SITE static void *site_first(void)
{
	void *block = malloc(20);

	HIDE(block);
	return block;
}

SITE static void *site_second(void)
{
	void *block = malloc(30);

	HIDE(block);
	return block;
}

SITE static void *site_between(void)
{
	void *block = malloc(40);

	HIDE(block);
	return block;
}

SITE static void *site_moved(void)
{
	void *block = malloc(50);

	HIDE(block);
	return block;
}

SITE static void *site_larger(void *block)
{
	block = realloc(block, 5000);
	HIDE(block);
	return block;
}

static void scenario_temporary(void)
{
	void *first, *second;
	int i;

	for (i = 0; i < TURNS; i++) {
		free(site_next());
		/* Another allocation comes before the free; for the second one, another free. */
		first = site_first();
		second = site_second();
		free(first);
		free(second);
		/* As does the free of an older block. */
		first = site_first();
		second = site_second();
		free(second);
		second = site_between();
		free(first);
		free(second);
		/* realloc is a free and an allocation. */
		free(site_larger(site_moved()));
	}
	printf("{\"site_next\": %d, \"site_first\": 0, \"site_second\": %d, \"site_between\": 0, "
	       "\"site_moved\": %d, "
	       "\"site_larger\": %d}\n",
	       TURNS, TURNS, TURNS, TURNS);
}

/* A block that one thread has made and another one frees is not temporary, though it may have the address of one that was. */

static sem_t asked, answered;
static void *passed;

SITE static void *site_request(void)
{
	void *block = malloc(60);

	HIDE(block);
	return block;
}

SITE static void *site_response(void)
{
	void *block = malloc(60);

	HIDE(block);
	return block;
}

static void *serve(void *unused)
{
	int i;

	for (i = 0; i < TURNS; i++) {
		while (sem_wait(&asked))
			;
		free(passed);
		passed = site_response();
		sem_post(&answered);
	}
	return unused;
}

static void scenario_threads(void)
{
	pthread_t thread;
	int i;

	sem_init(&asked, 0, 0);
	sem_init(&answered, 0, 0);
	if (pthread_create(&thread, NULL, serve, NULL))
		abort();
	for (i = 0; i < TURNS; i++) {
		passed = site_request();
		sem_post(&asked);
		while (sem_wait(&answered))
			;
		free(passed);
	}
	pthread_join(thread, NULL);
	printf("{\"site_request\": 0, \"site_response\": 0}\n");
}

int main(int count, char **arguments)
{
	const char *scenario = count > 1 ? arguments[1] : "";
	static char out[4096];
	char byte;

	setvbuf(stdout, out, _IOFBF, sizeof(out));
	truth_begin(count > 2 ? arguments[2] : NULL);
	if (!strcmp(scenario, "spans"))
		scenario_spans();
	else if (!strcmp(scenario, "temporary"))
		scenario_temporary();
	else if (!strcmp(scenario, "threads"))
		scenario_threads();
	else
		return 2;
	fflush(stdout);
	while (truth_waits && read(0, &byte, 1) == 1)
		;
	return 0;
}
