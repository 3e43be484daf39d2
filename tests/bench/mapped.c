/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `mapped MEGABYTES MAPPINGS`: holds a heap of so many bytes in blocks of 4 KB, and so many mappings of a page; says so, and then serves requests. "MS" is
 * one: for so long, once in 200 microseconds, map 64 KB, touch its pages, and unmap it. The answer is how long each of these turns took, in microseconds, of
 * all and of the worst; and in how many turns the thread waited for anything but a CPU, which there is a lock of the process's mappings. The thread is
 * a real-time one where that is allowed: then it does not wait for a CPU.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#define BLOCK 4096
#define SIZE (64u << 10)
#define PAGE 4096
#define GAP_NS 200000
#define TURNS_MAX 1000000

static void **blocks;
static unsigned int times[TURNS_MAX]; /* nanoseconds */

static unsigned long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned long)now.tv_sec * 1000000000ul + (unsigned long)now.tv_nsec;
}

static void turn(void)
{
	char *area = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t at;

	if (area == MAP_FAILED)
		abort();
	for (at = 0; at < SIZE; at += PAGE)
		area[at] = 1;
	munmap(area, SIZE);
}

static long waits(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

static int compare(const void *a, const void *b)
{
	unsigned int left = *(const unsigned int *)a, right = *(const unsigned int *)b;

	return (left > right) - (left < right);
}

static double part(size_t count, double share)
{
	size_t at = (size_t)((double)count * share);

	return times[at < count ? at : count - 1] / 1e3;
}

static void measure(unsigned long ms)
{
	const struct timespec gap = { .tv_nsec = GAP_NS };
	unsigned long until = now_ns() + ms * 1000000ul, begin;
	size_t count = 0, waited = 0;
	double sum = 0;
	long before;

	while (now_ns() < until && count < TURNS_MAX) {
		nanosleep(&gap, NULL);
		before = waits();
		begin = now_ns();
		turn();
		times[count] = (unsigned int)(now_ns() - begin);
		sum += times[count++] / 1e3;
		waited += waits() != before;
	}
	qsort(times, count, sizeof(times[0]), compare);
	printf("{\"turns\": %zu, \"mean\": %.1f, \"p50\": %.1f, \"p99\": %.1f, \"p999\": %.1f, "
	       "\"max\": %.1f, \"waited\": %zu}\n",
	       count, sum / (double)count, part(count, 0.5), part(count, 0.99), part(count, 0.999),
	       part(count, 1), waited);
	fflush(stdout);
}

static void fill(size_t megabytes, size_t mappings)
{
	size_t count = megabytes << 20 >> 12, i;
	char *area;

	blocks = malloc(count * sizeof(*blocks));
	for (i = 0; i < count; i++) {
		blocks[i] = malloc(BLOCK);
		memset(blocks[i], (int)i, BLOCK);
		*(void **)blocks[i] = i ? blocks[i - 1] : NULL;
	}
	/* Of turns that differ, so that the kernel does not make one of them. */
	for (i = 0; i < mappings; i++) {
		area = mmap(NULL, PAGE, i % 2 ? PROT_READ : PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (area == MAP_FAILED)
			abort();
		if (i % 2 == 0)
			*area = 1;
	}
}

int main(int argc, char **argv)
{
	const struct sched_param real_time = { .sched_priority = 1 };
	char line[64];

	fill(argc > 1 ? strtoul(argv[1], NULL, 0) : 64, argc > 2 ? strtoul(argv[2], NULL, 0) : 0);
	sched_setscheduler(0, SCHED_FIFO, &real_time);
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		measure(strtoul(line, NULL, 0));
	return 0;
}
