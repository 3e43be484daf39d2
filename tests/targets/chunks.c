/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A heap of glibc's malloc of known content: chunks SHAPE THREADS BLOCKS. Each live block begins with its own address ^ CHUNKS_KEY
 * and the size that was asked for (as those of filled.c do); what is freed loses that. SHAPE is
 *
 *   mixed    blocks of many sizes, half of them freed
 *   small    blocks of up to 120 bytes, nearly all freed: caches of threads and fastbins are full
 *   tail     the last 60 % freed: the top of the heap is large, since it may not be trimmed
 *   aligned  blocks that are aligned to up to 64 KB, half of them freed
 *
 * It obeys lines on its standard input, each answered by a line of JSON: "stats" with live blocks and bytes, and mallinfo2's
 * figures; "trim" with the anonymous memory that malloc_trim(0) has returned, by the kernel's count; "churn" makes the threads
 * allocate and free until the next "churn". It allocates nothing but these blocks.
 */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNKS_KEY 0x6c61766f696e7573ull
#define MOST_THREADS 64

static struct thread {
	pthread_t thread;
	uint64_t random;
	void **blocks;
	_Atomic int64_t live, bytes;
} threads[MOST_THREADS];
static int thread_count, block_count;
static char shape;
static atomic_int churning, parked, step;
static pthread_barrier_t barrier;

static uint64_t draw(struct thread *thread)
{
	thread->random ^= thread->random << 13;
	thread->random ^= thread->random >> 7;
	thread->random ^= thread->random << 17;
	return thread->random >> 8;
}

static size_t draw_size(struct thread *thread)
{
	uint64_t kind = draw(thread) % 1000, random = draw(thread);

	if (shape == 's' || kind < 700)
		return 16 + random % 105;
	if (kind < 950 || shape == 't')
		return 16 + random % 8000;
	if (kind < 998)
		return 16 + random % 70000;
	return 16 + random % 1500000;
}

static void *allocate(struct thread *thread, size_t size)
{
	void *block = NULL;

	if (shape != 'a')
		return malloc(size);
	if (posix_memalign(&block, (size_t)16 << draw(thread) % 13, size))
		return NULL;
	return block;
}

static void fill(struct thread *thread, int i)
{
	size_t size = draw_size(thread);
	uint64_t *block = allocate(thread, size);

	if (!block)
		abort();
	memset(block, 0x5a, size);
	block[0] = (uint64_t)(uintptr_t)block ^ CHUNKS_KEY;
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

static int goes(struct thread *thread, int i)
{
	if (shape == 's')
		return i % 50;
	if (shape == 't')
		return i > block_count * 2 / 5;
	return draw(thread) & 1;
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

static void prepare(struct thread *thread)
{
	int i;

	for (i = 0; i < block_count; i++)
		fill(thread, i);
	pthread_barrier_wait(&barrier);
	for (i = block_count; i--;)
		if (goes(thread, i))
			clear(thread, i);
}

static void *run(void *context)
{
	struct thread *thread = context;
	int seen = 0;

	prepare(thread);
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

/* Of this process, in bytes, exactly; without files, which the first call of a function may bring in. */
static long resident(void)
{
	char text[4096], *line;
	int fd = open("/proc/self/smaps_rollup", O_RDONLY);
	ssize_t size = read(fd, text, sizeof(text) - 1);

	close(fd);
	if (size < 0)
		return 0;
	text[size] = 0;
	line = strstr(text, "Anonymous:");
	return line ? atol(line + 10) * 1024 : 0;
}

/* Before glibc 2.33 its figures are of 32 bits, which is enough for this program. */
#if __GLIBC_PREREQ(2, 33)
#define MALLINFO mallinfo2
#else
#define MALLINFO mallinfo
#endif

static void answer(long returned)
{
	struct MALLINFO info = MALLINFO();
	long long blocks = 0, bytes = 0;
	char line[1024];
	int i, length;

	for (i = 0; i < thread_count; i++) {
		blocks += threads[i].live;
		bytes += threads[i].bytes;
	}
	length = snprintf(
		line, sizeof(line),
		"{\"blocks\": %lld, \"bytes\": %lld, \"arena\": %zu, \"hblks\": %zu, "
		"\"hblkhd\": %zu, \"uordblks\": %zu, \"fordblks\": %zu, \"fsmblks\": %zu, "
		"\"returned\": %ld}\n",
		blocks, bytes, (size_t)info.arena, (size_t)info.hblks, (size_t)info.hblkhd,
		(size_t)info.uordblks, (size_t)info.fordblks, (size_t)info.fsmblks, returned);
	if (write(1, line, length) != length)
		_exit(1);
}

static void obey(char command)
{
	long before = resident();

	if (command == 't')
		malloc_trim(0);
	if (command == 'c') {
		churning = !churning;
		if (churning)
			step++;
		wait_parked(churning ? 0 : thread_count - 1);
	}
	answer(before - resident());
}

int main(int argc, char **argv)
{
	char line[16];
	int i;

	shape = argc > 1 ? argv[1][0] : 'm';
	thread_count = argc > 2 ? atoi(argv[2]) : 1;
	block_count = argc > 3 ? atoi(argv[3]) : 1000;
	if (thread_count < 1 || thread_count > MOST_THREADS)
		return 2;
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
	pthread_barrier_init(&barrier, NULL, thread_count);
	for (i = 0; i < thread_count; i++) {
		threads[i].random = 88172645463325252ull + 7919 * i;
		threads[i].blocks = calloc(block_count, sizeof(void *));
		if (i && pthread_create(&threads[i].thread, NULL, run, &threads[i]))
			return 1;
	}
	/* The main heap is the main thread's, which obeys. */
	prepare(&threads[0]);
	wait_parked(thread_count - 1);
	answer(0);
	while (read(0, line, sizeof(line)) > 0)
		obey(line[0]);
	return 0;
}
