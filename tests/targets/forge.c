/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * forge OWNER OWNER: two processes, of which the second tries to have its blocks counted as the first one's. It knows the
 * first one's stack, since it is forked from it, and gives its own one a return address that leads to the same key, if keys
 * are a plain hash of the frames, then the target's number (the two OWNERs, by their order on the tracer's command line).
 *
 * Prints both pids; allocates as soon as it reads a line, the first process first; prints what both have allocated, and
 * ends with its input.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define MULTIPLIER 0x9e3779b97f4a7c15ULL

static void *volatile kept;

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * MULTIPLIER;
	return hash ^ hash >> 32;
}

/* What `value` must be, so that mix(hash, value) is `result`. */
static uint64_t unmix(uint64_t hash, uint64_t result)
{
	uint64_t inverse = MULTIPLIER;
	int i;

	for (i = 0; i < 6; i++)
		inverse *= 2 - MULTIPLIER * inverse;
	return hash ^ (result ^ result >> 32) * inverse;
}

/* Where a function that is called as malloc is returns to. */
static __attribute__((noinline)) void *where(size_t size)
{
	(void)size;
	return __builtin_return_address(0);
}

/* Call `call` from a frame that seems to return to `caller`. */
static __attribute__((noinline)) void *plant(void *(*volatile call)(size_t), size_t size,
					     uintptr_t caller)
{
	volatile uintptr_t *slot = (volatile uintptr_t *)__builtin_frame_address(0) + 1;
	uintptr_t saved = *slot;
	void *result;

	*slot = caller;
	result = call(size);
	*slot = saved;
	return result;
}

static void allocate(int count, size_t size, uintptr_t caller)
{
	while (count--)
		kept = plant(malloc, size, caller);
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	uint64_t second = argc > 2 ? strtoull(argv[2], NULL, 10) : 2, hash, caller;
	int go[2], line;
	pid_t child;
	char byte;

	hash = mix(0, (uintptr_t)plant(where, 0, 0));
	caller = unmix(hash, hash ^ first ^ second);
	if (pipe(go))
		return 1;
	child = fork();
	if (child == 0) {
		close(go[1]);
		if (read(go[0], &byte, 1) == 1)
			allocate(60, 5000, caller);
		while (read(go[0], &byte, 1) == 1)
			;
		_exit(0);
	}
	close(go[0]);
	printf("%d %d\n", (int)getpid(), (int)child);
	fflush(stdout);
	while ((line = getchar()) != EOF && line != '\n')
		;
	allocate(40, 300, 0);
	if (write(go[1], "", 1) != 1)
		return 1;
	printf("40 60\n");
	fflush(stdout);
	while (getchar() != EOF)
		;
	close(go[1]);
	waitpid(child, NULL, 0);
	return 0;
}
