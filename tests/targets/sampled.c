/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An allocator that publishes samples, as the probes otel_memory:alloc and otel_memory:free are agreed on: the bytes between
 * two samples are random, with an exponential distribution (a Poisson process over bytes), from a seed that is always
 * the same; a sample of S bytes represents S / p, where p = 1 - exp(-S / INTERVAL) is how likely it was. Its functions have
 * names of jemalloc's, so that they can be probed instead.
 *
 * Built with SEMAPHORES, it samples only while somebody listens. With ONLY_ALLOC it does not publish what is freed. OWN_MALLOC
 * makes its memory that of malloc, with the same addresses.
 */
#if defined(SEMAPHORES)
#define _SDT_HAS_SEMAPHORES 1
#endif
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>

#include "sampled.h"

#if !defined(INTERVAL)
#define INTERVAL 4096.0
#endif
#define ARENA (512ul << 20)
#define CLASSES 48

#if defined(SEMAPHORES)
#define PROBE_DATA __attribute__((section(".probes"), visibility("hidden")))
extern volatile unsigned short otel_memory_alloc_semaphore, otel_memory_free_semaphore;
PROBE_DATA volatile unsigned short otel_memory_alloc_semaphore, otel_memory_free_semaphore;
#define LISTENS(name) otel_memory_##name##_semaphore
#else
#define LISTENS(name) 1
#endif

/* Before each block. */
struct head {
	unsigned long size, weight, objects;
	struct head *next; /* of those that are free */
};

__thread struct sampled_block sampled_last_alloc, sampled_last_free;
unsigned long sampled_fired, sampled_bytes, sampled_lie;

static uint64_t seed = 42;
static double left = 1;

int sampled_semaphores(void)
{
#if defined(SEMAPHORES)
	return otel_memory_alloc_semaphore + otel_memory_free_semaphore;
#else
	return -1;
#endif
}

static double random_interval(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return -log((double)((seed >> 11) + 1) / 9007199254740993.0) * INTERVAL;
}

#if defined(OWN_MALLOC)
#define HEAD_OF(block) head_of(block)
/* The sampled ones of malloc's blocks, which have no room for a head. */
static struct {
	void *block;
	struct head head;
} known[65536];

static struct head *head_of(void *block)
{
	size_t at = ((uintptr_t)block >> 4) % 65536;

	while (known[at].block && known[at].block != block)
		at = (at + 1) % 65536;
	if (!known[at].block)
		known[at].head = (struct head){ 0 };
	known[at].block = block;
	return &known[at].head;
}
#define take(size) malloc(size)
#define give(block) free(block)
#else
#define HEAD_OF(block) ((struct head *)(block)-1)

static _Alignas(16) char arena[ARENA];
static size_t arena_used;
static struct head *classes[CLASSES];

static unsigned int class_of(size_t size)
{
	return size <= 16 ? 4 : 64 - (unsigned int)__builtin_clzl(size - 1);
}

static void *take(size_t size)
{
	unsigned int class = class_of(size);
	struct head *head = classes[class];

	if (head) {
		classes[class] = head->next;
	} else {
		if (ARENA - arena_used < (1ul << class) + sizeof(*head))
			abort();
		head = (struct head *)(arena + arena_used);
		arena_used += (1ul << class) + sizeof(*head);
	}
	*head = (struct head){ .size = size };
	return head + 1;
}

static void give(void *block)
{
	struct head *head = (struct head *)block - 1;

	head->next = classes[class_of(head->size)];
	classes[class_of(head->size)] = head;
}
#endif

/* Is a block of so many bytes to be published? Where it is, what it represents. */
static unsigned long weigh(size_t size)
{
	sampled_bytes += size;
	left -= (double)size;
	if (left > 0)
		return 0;
	while (left <= 0)
		left += random_interval();
	return (unsigned long)((double)size / (1 - exp(-(double)size / INTERVAL)));
}

static void note(void *block, size_t size, unsigned long weight)
{
	struct head *head = HEAD_OF(block);

	head->size = size;
	head->weight = weight;
	head->objects = (weight + size / 2) / size;
	sampled_last_alloc = (struct sampled_block){ size, weight, head->objects };
	sampled_fired++;
}

/* Inlined, so that each function has a place of its own. */
static inline __attribute__((always_inline)) void publish_alloc(void *block, size_t size)
{
	unsigned long weight;

	sampled_last_alloc.weight = 0;
	if (!LISTENS(alloc) || !size)
		return;
	weight = weigh(size);
	if (!weight)
		return;
	if (sampled_lie) {
		weight = sampled_lie;
		sampled_lie = 0;
	}
	note(block, size, weight);
	DTRACE_PROBE3(otel_memory, alloc, block, size, weight);
}

static inline __attribute__((always_inline)) void publish_free(void *block)
{
	struct head *head = HEAD_OF(block);

	sampled_last_free = (struct sampled_block){ head->size, head->weight, head->objects };
	if (!head->weight)
		return;
	head->weight = 0;
	sampled_fired++;
#if !defined(ONLY_ALLOC)
	if (LISTENS(free))
		DTRACE_PROBE1(otel_memory, free, block);
#endif
}

void *je_malloc(size_t size)
{
	void *block = take(size);

	publish_alloc(block, size);
	return block;
}

void *je_calloc(size_t count, size_t size)
{
	void *block = take(count * size);

	memset(block, 0, count * size);
	/* The compiler knows the half of this: one place has constants among its arguments. */
	if (count * size == 1024)
		publish_alloc(block, 1024);
	else
		publish_alloc(block, count * size);
	return block;
}

void je_free(void *block)
{
	if (!block)
		return;
	publish_free(block);
	give(block);
}

void *je_realloc(void *block, size_t size)
{
	struct head *old = block ? (struct head *)block - 1 : NULL;
	void *moved = take(size);

	if (old) {
		memcpy(moved, block, old->size < size ? old->size : size);
		publish_free(block);
		give(block);
	}
	publish_alloc(moved, size);
	return moved;
}
