/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that allocate and leave their stack on the way: one switches to another fiber, during another one a signal is
 * handled on an alternate stack, which lies above that of the thread. Each time another function that is probed is called there.
 * `yields fibers|handler [wait]`. YIELDS_ROUNDS is how often, a thousand times at most.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "truth.h"

#define ROUNDS_MAX 1000
#define BLOCK 32
#define STACK (256 << 10)

static char memory[4 * ROUNDS_MAX][BLOCK];
static unsigned int used;
static ucontext_t here, fiber;
static int goes_on_elsewhere, rounds = ROUNDS_MAX;

SITE void *pool_get(size_t size);
SITE void *scalable_malloc(size_t size);
SITE void scalable_free(void *block);

/* For --alloc. */
void *pool_get(size_t size)
{
	void *block = memory[used++];

	HIDE(size);
	if (goes_on_elsewhere) {
		goes_on_elsewhere = 0;
		swapcontext(&fiber, &here);
	}
	return block;
}

/* The name is one that is known. */
void *scalable_malloc(size_t size)
{
	void *block = memory[used++];

	HIDE(size);
	raise(SIGUSR1);
	return block;
}

void scalable_free(void *block)
{
	HIDE(block);
}

SITE static void site_fiber(void)
{
	void *block;

	goes_on_elsewhere = 1;
	block = pool_get(10);
	HIDE(block);
	truth_alloc(__func__, 10);
}

SITE static void site_here(void)
{
	void *block = pool_get(20);

	HIDE(block);
	truth_alloc(__func__, 20);
}

static void fiber_run(void)
{
	for (;;) {
		site_fiber();
		swapcontext(&fiber, &here);
	}
}

/* The fiber's stack lies below that of the program. */
static void scenario_fibers(void)
{
	static char stack[STACK];
	int i;

	getcontext(&fiber);
	fiber.uc_stack.ss_sp = stack;
	fiber.uc_stack.ss_size = sizeof(stack);
	makecontext(&fiber, fiber_run, 0);
	for (i = 0; i < rounds; i++) {
		swapcontext(&here, &fiber);
		site_here();
		swapcontext(&here, &fiber);
	}
}

SITE static void site_mmap(int number)
{
	void *memory = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	HIDE(number);
	truth_alloc(__func__, 4096);
	munmap(memory, 4096);
	truth_free(__func__, 4096);
}

SITE static void site_interrupted(void)
{
	void *block = scalable_malloc(30);

	HIDE(block);
	truth_alloc(__func__, 30);
}

static void *thread_run(void *stack)
{
	stack_t signals = { .ss_sp = stack, .ss_size = STACK };
	struct sigaction action = { .sa_handler = site_mmap, .sa_flags = SA_ONSTACK };
	int i;

	sigaltstack(&signals, NULL);
	sigaction(SIGUSR1, &action, NULL);
	for (i = 0; i < rounds; i++)
		site_interrupted();
	return NULL;
}

/* The thread's stack is in the program's data, that for signals in the program's own stack, above it. */
static void scenario_handler(void)
{
	static char stack[STACK] __attribute__((aligned(64)));
	char signals[STACK];
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, stack, sizeof(stack));
	pthread_create(&thread, &attributes, thread_run, signals);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
}

int main(int argc, char **argv)
{
	const char *wanted = getenv("YIELDS_ROUNDS");

	if (wanted && atoi(wanted) < ROUNDS_MAX)
		rounds = atoi(wanted);
	truth_begin(argv[argc - 1]);
	if (argc > 1 && !strcmp(argv[1], "fibers"))
		scenario_fibers();
	else
		scenario_handler();
	truth_end();
	return 0;
}
