/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks that are hard to walk, each ending in a malloc of a size of its own: recursion 1 to 120 deep, alloca,
 * a realigned stack, frames of 40 KB, a callback from libc, a signal handler (on its own stack too), a thread, and a
 * fiber. To be built with -O2 -fomit-frame-pointer. `unwind_torture wait` first waits for a line on standard input;
 * a second argument is how often everything is done.
 *
 * The size names the stack: 7000000 + the number below, and for recursions 7100000 + the depth.
 */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define SIZE(number) (7000000 + (size_t)(number))
#define RECURSION_SIZE(depth) (7100000 + (size_t)(depth))
#define RECURSION_MAX 120
#define FIBER_STACK 262144

enum torture {
	TORTURE_PLAIN = 1,
	TORTURE_ALLOCA,
	TORTURE_REALIGNED,
	TORTURE_REALIGNED_ALLOCA,
	TORTURE_LARGE_FRAME,
	TORTURE_CALLBACK,
	TORTURE_SIGNAL,
	TORTURE_SIGNAL_OTHER_STACK,
	TORTURE_THREAD,
	TORTURE_FIBER,
};

#define NOINLINE __attribute__((noinline, noclone))

static ucontext_t torture_main, torture_fiber;
static volatile sig_atomic_t torture_number;
static volatile uintptr_t torture_sink;

/* What the compiler cannot see through, after every call: no call becomes a jump. */
static void keep(const void *pointer)
{
	torture_sink += (uintptr_t)pointer;
	__asm__ volatile("" : : "r"(pointer) : "memory");
}

static NOINLINE void take(size_t size)
{
	void *block = malloc(size);

	keep(block);
	free(block);
	keep(&size);
}

static NOINLINE void recurse(int depth, size_t size)
{
	char frame[48];

	memset(frame, depth, sizeof(frame));
	keep(frame);
	if (depth > 1)
		recurse(depth - 1, size);
	else
		take(size);
	keep(frame);
}

static NOINLINE void with_alloca(size_t bytes, size_t size)
{
	char *block = alloca(bytes);

	memset(block, 1, bytes);
	keep(block);
	recurse(3, size);
	keep(block);
}

static NOINLINE void realigned(size_t size)
{
	char block[256] __attribute__((aligned(128)));

	memset(block, 1, sizeof(block));
	keep(block);
	with_alloca(100, size);
	keep(block);
}

/* Over-aligned locals together with alloca: the CFA itself is kept in memory. */
static NOINLINE void realigned_alloca(size_t bytes, size_t size, int a, int b, int c, int d, int e,
				      int f)
{
	char block[64] __attribute__((aligned(64)));
	char *more = alloca(bytes);

	memset(block, a + b + c, sizeof(block));
	memset(more, d + e + f, bytes);
	keep(block);
	keep(more);
	recurse(2, size);
	keep(block);
	keep(more);
}

static NOINLINE void large_frame(int depth, size_t size)
{
	char block[40 * 1024];

	memset(block, depth, sizeof(block));
	keep(block);
	if (depth > 1)
		large_frame(depth - 1, size);
	else
		take(size);
	keep(block);
}

static int compare(const void *left, const void *right)
{
	int a = *(const int *)left, b = *(const int *)right;

	if (torture_number == TORTURE_CALLBACK) {
		torture_number = 0;
		take(SIZE(TORTURE_CALLBACK));
	}
	return a - b;
}

static NOINLINE void callback(void)
{
	int numbers[] = { 3, 1, 2, 7, 5 };

	torture_number = TORTURE_CALLBACK;
	qsort(numbers, 5, sizeof(numbers[0]), compare);
	keep(numbers);
}

/* Not a thing for a handler to do, but raise() says when it runs. */
static void handle(int number)
{
	(void)number;
	recurse(2, SIZE(torture_number));
	keep(&number);
}

static NOINLINE void with_signal(int flags, int number)
{
	struct sigaction action = { .sa_handler = handle, .sa_flags = flags };
	static char memory[FIBER_STACK];
	stack_t other = { .ss_sp = memory, .ss_size = sizeof(memory) };

	sigaltstack(&other, NULL);
	sigaction(SIGUSR1, &action, NULL);
	torture_number = number;
	raise(SIGUSR1);
	keep(&action);
}

static void *thread(void *argument)
{
	recurse(4, SIZE(TORTURE_THREAD));
	keep(argument);
	return NULL;
}

static NOINLINE void in_thread(void)
{
	pthread_t id;

	if (!pthread_create(&id, NULL, thread, NULL))
		pthread_join(id, NULL);
	keep(&id);
}

static void fiber(void)
{
	recurse(5, SIZE(TORTURE_FIBER));
	keep(&torture_fiber);
}

static NOINLINE void in_fiber(void)
{
	static char stack[FIBER_STACK];

	getcontext(&torture_fiber);
	torture_fiber.uc_stack.ss_sp = stack;
	torture_fiber.uc_stack.ss_size = sizeof(stack);
	torture_fiber.uc_link = &torture_main;
	makecontext(&torture_fiber, fiber, 0);
	swapcontext(&torture_main, &torture_fiber);
	keep(stack);
}

static NOINLINE void torture(void)
{
	int depth;

	take(SIZE(TORTURE_PLAIN));
	with_alloca(1000, SIZE(TORTURE_ALLOCA));
	realigned(SIZE(TORTURE_REALIGNED));
	realigned_alloca(500, SIZE(TORTURE_REALIGNED_ALLOCA), 1, 2, 3, 4, 5, 6);
	large_frame(5, SIZE(TORTURE_LARGE_FRAME));
	callback();
	with_signal(0, TORTURE_SIGNAL);
	with_signal(SA_ONSTACK, TORTURE_SIGNAL_OTHER_STACK);
	in_thread();
	in_fiber();
	for (depth = 1; depth <= RECURSION_MAX; depth++)
		recurse(depth, RECURSION_SIZE(depth));
	keep(&depth);
}

int main(int argc, char *argv[])
{
	int times = argc > 2 ? atoi(argv[2]) : 1;
	char line[16];

	if (argc > 1 && !fgets(line, sizeof(line), stdin))
		return 1;
	while (times-- > 0)
		torture();
	return torture_sink == 1;
}
