/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks whose pointers move all the time; beside them LEAKED blocks of a size that nothing else has are lost. Prints a line when it is at
 * work. Without an argument there are lists that nodes are taken from and added to, an array that is shuffled, and blocks that come and go, in
 * two threads; with "ends" one thread moves pointers from one end of much memory to the other and back; with "tables" a table of pointers
 * moves to new memory; with "hands" two threads do nothing but allocate and free, and nothing else has a block that is about to be freed.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "scrub.h"

#define LEAKED 24
#define LEAKED_BYTES 3000
#define LISTS 64
#define NODES 20000
#define SLOTS 4096
#define HELD 1000
#define HELD_BYTES 200
#define BETWEEN (64u << 20)
#define HANDS 3000
#define TABLE_BYTES 65536
#define TABLE_US 1000 /* that a table stays */

struct node {
	struct node *next;
	void *block;
	long number;
};

struct list {
	pthread_mutex_t lock;
	struct node *first;
};

static struct list lists[LISTS];
static void *volatile slots[SLOTS];
static pthread_mutex_t slot_lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void push(struct list *list, struct node *node)
{
	pthread_mutex_lock(&list->lock);
	node->next = list->first;
	list->first = node;
	pthread_mutex_unlock(&list->lock);
}

static struct node *pop(struct list *list)
{
	struct node *node;

	pthread_mutex_lock(&list->lock);
	node = list->first;
	if (node)
		list->first = node->next;
	pthread_mutex_unlock(&list->lock);
	return node;
}

static void *work(void *argument)
{
	uint64_t state = (uint64_t)(uintptr_t)argument;
	struct node *node;
	size_t a, b;
	void *block;

	for (;;) {
		node = pop(&lists[next_random(&state) % LISTS]);
		if (node) {
			free(node->block);
			node->block = malloc(16 + next_random(&state) % 200);
			push(&lists[next_random(&state) % LISTS], node);
		}
		a = next_random(&state) % SLOTS;
		b = next_random(&state) % SLOTS;
		pthread_mutex_lock(&slot_lock);
		block = slots[a];
		slots[a] = slots[b];
		slots[b] = block;
		pthread_mutex_unlock(&slot_lock);
		block = malloc(64);
		((void **)block)[0] = node;
		free(block);
	}
	return NULL;
}

static void *map(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		_exit(1);
	return memory;
}

static void hold(void *volatile *slot)
{
	int i;

	for (i = 0; i < HELD; i++)
		slot[i] = calloc(1, HELD_BYTES);
}

static void move_between_ends(void)
{
	void *volatile *low = map(BETWEEN), *volatile * high;
	int i;

	memset((void *)low, 1, BETWEEN);
	high = low + BETWEEN / sizeof(*low) - HELD;
	hold(low);
	for (;;) {
		for (i = 0; i < HELD; i++) {
			high[i] = low[i];
			low[i] = NULL;
		}
		for (i = 0; i < HELD; i++) {
			low[i] = high[i];
			high[i] = NULL;
		}
	}
}

static void *volatile *volatile table;

static void move_tables(void)
{
	void *volatile *before;

	table = map(TABLE_BYTES);
	hold(table);
	for (;;) {
		usleep(TABLE_US);
		before = table;
		/* Never where it was before. */
		table = map(TABLE_BYTES);
		memcpy((void *)table, (void *)before, TABLE_BYTES);
		munmap((void *)before, TABLE_BYTES);
	}
}

static void *work_with_hands(void *argument)
{
	void *volatile *mine = argument;
	uint64_t state = (uint64_t)(uintptr_t)argument;
	void *block;
	size_t i;

	for (;;) {
		i = next_random(&state) % HANDS;
		block = mine[i];
		mine[i] = NULL;
		free(block);
		i = next_random(&state) % HANDS;
		if (!mine[i])
			mine[i] = malloc(64);
	}
	return NULL;
}

static __attribute__((noinline)) void lose(void)
{
	void **before = NULL, **block;
	int i;

	/* Each second one leads to the one before. */
	for (i = 0; i < LEAKED; i++) {
		block = malloc(LEAKED_BYTES + (i % 2 ? 16 : 0));
		memset(block, 0, LEAKED_BYTES);
		block[0] = i % 2 ? before : NULL;
		before = block;
	}
}

static void work_with_lists(void)
{
	pthread_t thread;
	int i;

	for (i = 0; i < LISTS; i++)
		pthread_mutex_init(&lists[i].lock, NULL);
	for (i = 0; i < NODES; i++) {
		struct node *node = calloc(1, sizeof(*node));

		push(&lists[i % LISTS], node);
	}
	for (i = 0; i < SLOTS; i++)
		slots[i] = malloc(40);
	pthread_create(&thread, NULL, work, (void *)88172645463325252);
	work((void *)362436069362436069);
}

static void work_in_two_threads(void)
{
	static void *volatile held[2][HANDS];
	pthread_t thread;

	pthread_create(&thread, NULL, work_with_hands, (void *)held[1]);
	work_with_hands((void *)held[0]);
}

int main(int argc, char **argv)
{
	lose();
	scrub();
	printf("at work\n");
	fflush(stdout);
	if (argc > 1 && !strcmp(argv[1], "ends"))
		move_between_ends();
	if (argc > 1 && !strcmp(argv[1], "tables"))
		move_tables();
	if (argc > 1 && !strcmp(argv[1], "hands"))
		work_in_two_threads();
	work_with_lists();
	return 0;
}
