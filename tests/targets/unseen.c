/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocates and frees in several threads, by all functions of the C library, and counts at each site what is in use. At each line that it
 * reads, all threads do a part of their work and stop; then it writes "FUNCTION BLOCKS BYTES ALLOCATED" of each site, and "end". At the line
 * "run" they work on until the next line.
 *
 * With the name of a file, it also counts there, for each site, the calls that allocate and free: as they begin and as they have ended
 * (struct calls). Others may read that at any time.
 */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define THREADS 4
#define TURNS 4000
#define KEPT 2000 /* of each thread and site */

#define SITES(X)        \
	X(by_malloc)    \
	X(by_calloc)    \
	X(by_new_array) \
	X(by_grown)     \
	X(by_moved)     \
	X(by_aligned)   \
	X(by_posix)     \
	X(by_large)     \
	X(by_churn)     \
	X(by_far)

enum site {
#define X(name) SITE_##name,
	SITES(X)
#undef X
		SITE_COUNT,
};

static const char *const names[] = {
#define X(name) #name,
	SITES(X)
#undef X
};

struct kept {
	void *block;
	size_t size;
};

struct counts {
	long blocks, bytes, allocated;
};

/* What a thread has: blocks in places, of which some are freed by another thread. */
struct worker {
	unsigned int random;
	struct kept kept[SITE_COUNT][KEPT];
	struct counts counts[SITE_COUNT];
};

/* Numbers of calls of a site. */
struct calls {
	unsigned long alloc_begun, alloc_done, free_begun, free_done;
};

static struct calls calls_here[SITE_COUNT], *calls = calls_here;
static int running;
static struct worker workers[THREADS];
static pthread_barrier_t begin, done;

#define SITE __attribute__((noinline)) static void *

SITE by_malloc(size_t size)
{
	void *block = malloc(size);

	return block ? memset(block, 1, size) : NULL;
}

SITE by_calloc(size_t size)
{
	void *block = calloc(size, 1);

	return block ? memset(block, 1, 1) : NULL;
}

SITE by_new_array(size_t size)
{
	void *block = reallocarray(NULL, size, 1);

	return block ? memset(block, 1, 1) : NULL;
}

/* Mostly where it is. */
SITE by_grown(size_t size)
{
	void *block = realloc(malloc(size), size + 8);

	return block ? memset(block, 1, 1) : NULL;
}

/* Mostly to another place. */
SITE by_moved(size_t size)
{
	void *block = realloc(malloc(size), size * 4);

	return block ? memset(block, 1, 1) : NULL;
}

SITE by_aligned(size_t size)
{
	void *block = aligned_alloc(256, size);

	return block ? memset(block, 1, 1) : NULL;
}

SITE by_posix(size_t size)
{
	void *block = NULL;

	return posix_memalign(&block, 64, size) ? NULL : memset(block, 1, 1);
}

/* In a mapping of its own. */
SITE by_large(size_t size)
{
	void *block = malloc(size);

	return block ? memset(block, 1, 1) : NULL;
}

SITE by_churn(size_t size)
{
	void *block = malloc(size);

	return block ? memset(block, 1, 1) : NULL;
}

SITE by_far(size_t size)
{
	void *block = malloc(size);

	return block ? memset(block, 1, 1) : NULL;
}

static void *(*const functions[])(size_t size) = {
#define X(name) name,
	SITES(X)
#undef X
};

static unsigned int draw(struct worker *worker, unsigned int below)
{
	worker->random = worker->random * 1103515245 + 12345;
	return worker->random / 65536 % below;
}

static void count(unsigned long *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_SEQ_CST);
}

static void release(struct worker *worker, enum site site, size_t place)
{
	struct kept *kept = &worker->kept[site][place];

	if (!kept->block)
		return;
	worker->counts[site].blocks--;
	worker->counts[site].bytes -= (long)kept->size;
	count(&calls[site].free_begun);
	free(kept->block);
	count(&calls[site].free_done);
	kept->block = NULL;
}

static void take(struct worker *worker, enum site site, size_t place, size_t asked)
{
	struct kept *kept = &worker->kept[site][place];

	release(worker, site, place);
	count(&calls[site].alloc_begun);
	kept->block = functions[site](asked);
	count(&calls[site].alloc_done);
	kept->size = site == SITE_by_grown ? asked + 8 : site == SITE_by_moved ? asked * 4 : asked;
	worker->counts[site].blocks++;
	worker->counts[site].bytes += (long)kept->size;
	worker->counts[site].allocated++;
}

static void turn(struct worker *worker)
{
	enum site site = draw(worker, SITE_COUNT);
	size_t place = draw(worker, site == SITE_by_large ? 4 : KEPT);
	size_t size = 1 + draw(worker, draw(worker, 8) ? 200 : 5000);

	if (site == SITE_by_large)
		size += 300000;
	if (site == SITE_by_churn) {
		take(worker, site, 0, size);
		release(worker, site, 0);
	} else if (draw(worker, 3)) {
		take(worker, site, place, size);
	} else {
		release(worker, site, place);
	}
}

/* Blocks of by_far are freed by another thread than that which has allocated them, while all of these wait. */
static void swap_far(void)
{
	size_t i, place;

	for (i = 0; i < THREADS; i++)
		for (place = 0; place < KEPT; place += 2)
			release(&workers[i], SITE_by_far, place);
}

static void *work(void *context)
{
	struct worker *worker = context;
	int i;

	for (;;) {
		pthread_barrier_wait(&begin);
		for (i = 0; i < TURNS || __atomic_load_n(&running, __ATOMIC_SEQ_CST); i++)
			turn(worker);
		pthread_barrier_wait(&done);
	}
	return NULL;
}

static void print_counts(void)
{
	struct counts sum;
	size_t i, site;

	for (site = 0; site < SITE_COUNT; site++) {
		sum = (struct counts){ 0 };
		for (i = 0; i < THREADS; i++) {
			sum.blocks += workers[i].counts[site].blocks;
			sum.bytes += workers[i].counts[site].bytes;
			sum.allocated += workers[i].counts[site].allocated;
		}
		printf("%s %ld %ld %ld\n", names[site], sum.blocks, sum.bytes, sum.allocated);
	}
	printf("end\n");
}

static void share_calls(const char *name)
{
	int file = open(name, O_RDWR | O_CREAT, 0600);

	if (file < 0 || ftruncate(file, sizeof(calls_here)))
		exit(1);
	calls = mmap(NULL, sizeof(calls_here), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (calls == MAP_FAILED)
		exit(1);
	close(file);
}

int main(int argc, char **argv)
{
	static char out[4096];
	pthread_t thread;
	char line[16];
	size_t i;

	if (argc > 1)
		share_calls(argv[1]);
	setvbuf(stdout, out, _IOLBF, sizeof(out));
	pthread_barrier_init(&begin, NULL, THREADS + 1);
	pthread_barrier_init(&done, NULL, THREADS + 1);
	for (i = 0; i < THREADS; i++) {
		workers[i].random = (unsigned int)i + 1;
		if (pthread_create(&thread, NULL, work, &workers[i]))
			return 1;
	}
	printf("ready\n");
	while (fgets(line, sizeof(line), stdin)) {
		__atomic_store_n(&running, !strcmp(line, "run\n"), __ATOMIC_SEQ_CST);
		pthread_barrier_wait(&begin);
		if (running && !fgets(line, sizeof(line), stdin))
			return 1;
		__atomic_store_n(&running, 0, __ATOMIC_SEQ_CST);
		pthread_barrier_wait(&done);
		swap_far();
		print_counts();
	}
	return 0;
}
