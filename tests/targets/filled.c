/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A heap of known content, whatever allocator the program has. Threads allocate blocks of many sizes and free some, of their own
 * and of each other. Each live block begins with its own address ^ FILLED_KEY and the size that was asked for, and what is
 * freed loses that. `filled THREADS BLOCKS` obeys lines on its standard input, each answered by one line of JSON:
 *
 *   stats   live blocks and bytes, as the program counts them, and what the allocator has to say about itself
 *   churn   the threads go on allocating and freeing
 *   calm    until they are asked to wait
 *   purge   the allocator gives free memory back
 *
 * It allocates nothing but these blocks.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FILLED_KEY 0x6c61766f696e7573ull
#define MOST_THREADS 64
#define MOST_BLOCKS 100000

extern int mallctl(const char *name, void *old, size_t *old_size, void *new, size_t new_size)
	__attribute__((weak));
extern int MallocExtension_GetNumericProperty(const char *property, size_t *value)
	__attribute__((weak));
extern void MallocExtension_ReleaseFreeMemory(void) __attribute__((weak));

static struct thread {
	pthread_t thread;
	uint64_t random;
	uint64_t *blocks[MOST_BLOCKS];
	_Atomic int64_t live, bytes;
} * threads;
static int thread_count, block_count;
static atomic_int churning, parked, step;
static pthread_barrier_t barrier;

static uint64_t draw(struct thread *thread)
{
	thread->random ^= thread->random << 13;
	thread->random ^= thread->random >> 7;
	thread->random ^= thread->random << 17;
	return thread->random;
}

/* Most blocks are small. */
static size_t draw_size(struct thread *thread)
{
	uint64_t kind = draw(thread) % 1000, random = draw(thread) >> 8;

	if (kind < 700)
		return 16 + random % 500;
	if (kind < 950)
		return 16 + random % 8000;
	if (kind < 998)
		return 16 + random % 70000;
	return 16 + random % 1500000;
}

static void fill(struct thread *thread, int i)
{
	size_t size = draw_size(thread);
	uint64_t *block = malloc(size);

	if (!block)
		abort();
	memset(block, 0x5a, size);
	block[0] = (uint64_t)(uintptr_t)block ^ FILLED_KEY;
	block[1] = size;
	thread->blocks[i] = block;
	thread->live++;
	thread->bytes += size;
}

static void clear(struct thread *thread, int i)
{
	uint64_t *block = thread->blocks[i];

	if (!block)
		return;
	thread->blocks[i] = NULL;
	thread->live--;
	thread->bytes -= block[1];
	*(volatile uint64_t *)block = 0;
	free(block);
}

static void churn(struct thread *thread)
{
	while (churning) {
		int i = draw(thread) % block_count;

		if (thread->blocks[i])
			clear(thread, i);
		else
			fill(thread, i);
	}
}

static void *run(void *context)
{
	struct thread *thread = context, *next = threads + (thread - threads + 1) % thread_count;
	int i, seen = 0;

	for (i = 0; i < block_count; i++)
		fill(thread, i);
	pthread_barrier_wait(&barrier);
	for (i = 0; i < block_count; i++)
		if (i % 4 == 1 || (i > block_count / 2 && i % 3))
			clear(thread, i);
	pthread_barrier_wait(&barrier);
	for (i = 0; i < block_count; i += 16)
		clear(next, i);
	for (;;) {
		parked++;
		while (step == seen)
			usleep(1000);
		seen = step;
		parked--;
		churn(thread);
	}
	return NULL;
}

static void wait_parked(int count)
{
	while (parked != count)
		usleep(1000);
}

static size_t jemalloc_number(const char *name)
{
	size_t value = 0, size = sizeof(value);

	mallctl(name, &value, &size, NULL, 0);
	return value;
}

static size_t tcmalloc_number(const char *name)
{
	size_t value = 0;

	MallocExtension_GetNumericProperty(name, &value);
	return value;
}

static int allocator_stats(char *line, size_t size)
{
	uint64_t epoch = 1;

	if (mallctl) {
		mallctl("epoch", NULL, NULL, &epoch, sizeof(epoch));
		return snprintf(line, size,
				", \"allocated\": %zu, \"active\": %zu, \"tcache\": %zu, "
				"\"arenas\": %zu",
				jemalloc_number("stats.allocated"), jemalloc_number("stats.active"),
				jemalloc_number("stats.arenas.4096.tcache_bytes"),
				jemalloc_number("arenas.narenas") & 0xffffffff);
	}
	if (MallocExtension_GetNumericProperty)
		return snprintf(line, size,
				", \"allocated\": %zu, \"heap\": %zu, \"pageheap_free\": %zu, "
				"\"pageheap_unmapped\": %zu, \"caches\": %zu",
				tcmalloc_number("generic.current_allocated_bytes"),
				tcmalloc_number("generic.heap_size"),
				tcmalloc_number("tcmalloc.pageheap_free_bytes"),
				tcmalloc_number("tcmalloc.pageheap_unmapped_bytes"),
				tcmalloc_number("tcmalloc.current_total_thread_cache_bytes"));
	return 0;
}

static void answer(void)
{
	char line[1024];
	long long blocks = 0, bytes = 0;
	int i, length;

	for (i = 0; i < thread_count; i++) {
		blocks += threads[i].live;
		bytes += threads[i].bytes;
	}
	length = snprintf(line, sizeof(line), "{\"blocks\": %lld, \"bytes\": %lld", blocks, bytes);
	length += allocator_stats(line + length, sizeof(line) - length);
	length += snprintf(line + length, sizeof(line) - length, "}\n");
	if (write(1, line, length) != length)
		_exit(1);
}

static void obey(char command)
{
	if (command == 'p' && mallctl)
		mallctl("arena.4096.purge", NULL, NULL, NULL, 0);
	if (command == 'p' && MallocExtension_ReleaseFreeMemory)
		MallocExtension_ReleaseFreeMemory();
	if (command == 'c') {
		churning = !churning;
		if (churning)
			step++;
		wait_parked(churning ? 0 : thread_count);
	}
	answer();
}

int main(int argc, char **argv)
{
	char line[16];
	int i;

	thread_count = argc > 1 ? atoi(argv[1]) : 1;
	block_count = argc > 2 ? atoi(argv[2]) : 1000;
	if (thread_count < 1 || thread_count > MOST_THREADS || block_count > MOST_BLOCKS)
		return 2;
	threads = mmap(NULL, sizeof(*threads) * MOST_THREADS, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (threads == MAP_FAILED)
		return 1;
	pthread_barrier_init(&barrier, NULL, thread_count);
	for (i = 0; i < thread_count; i++) {
		threads[i].random = 88172645463325252ull + 7919 * i;
		if (pthread_create(&threads[i].thread, NULL, run, &threads[i]))
			return 1;
	}
	wait_parked(thread_count);
	/* What an allocator sets up when it is first asked is there from now on. */
	answer();
	while (read(0, line, sizeof(line)) > 0)
		obey(line[0]);
	return 0;
}
