/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks that are lost, held, or hidden in known ways. Each has a size of its own, which is its name: malloc gives 16n + 8 bytes for as
 * many. Prints a line of JSON with the cases, then waits for its input to end. Where valgrind runs it, memcheck looks for leaks first; WITH_LSAN,
 * LeakSanitizer does.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "scrub.h"

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define VALGRIND_DO_LEAK_CHECK (void)0
#endif

#ifdef WITH_LSAN
#include <sanitizer/lsan_interface.h>
#define LSAN_LOOK __lsan_do_recoverable_leak_check()
#else
#define LSAN_LOOK 0
#endif

#define QUIET __attribute__((noinline))
#define INNER 16

struct leak_case {
	const char *name, *kind;
	size_t size;
};

static struct leak_case cases[128];
static size_t case_count;
static volatile size_t next_size = 2008;

/* Where programs keep pointers; volatile, or nobody would write them. */
static void *volatile in_bss[16];
static void *volatile in_data[2] = { (void *)1, NULL };
static __thread void *volatile in_own_tls;
static __thread void *volatile in_tls;
static volatile uintptr_t encoded[8];
static char packed[64];
static int pipes[2];
static void *volatile handed;

static QUIET void **make(const char *name, const char *kind)
{
	size_t size = next_size;
	void **block = malloc(size);

	next_size = size + 16;
	memset(block, 0, size);
	cases[case_count++] = (struct leak_case){ name, kind, size };
	return block;
}

/* A chain of memcheck's manual: a root to the first block, the first to the second; 0 = none, 1 = to the start, 2 = inside. */
static QUIET void chain(size_t slot, int root, int edge, const char *first, const char *second)
{
	void **a = make("chain a", first), **b = make("chain b", second);

	if (edge)
		a[1] = (char *)b + (edge == 2 ? INNER : 0);
	if (root)
		in_bss[slot] = (char *)a + (root == 2 ? INNER : 0);
}

static QUIET void chains(void)
{
	chain(0, 1, 0, "reachable", "definite");
	chain(1, 1, 1, "reachable", "reachable");
	chain(2, 0, 0, "definite", "definite");
	chain(3, 0, 1, "definite", "indirect");
	chain(4, 2, 0, "possible", "definite");
	chain(5, 1, 2, "reachable", "possible");
	chain(6, 0, 2, "definite", "indirect");
	chain(7, 2, 1, "possible", "possible");
	chain(8, 2, 2, "possible", "possible");
}

static QUIET void rings(void)
{
	void **a = make("ring a", "definite"), **b = make("ring b", "indirect");
	void **c = make("ring c", "indirect"), **d, **e;

	a[0] = b;
	b[0] = c;
	c[0] = a;
	d = make("self loop", "definite");
	d[0] = d;
	/* A ring that leads to another one. */
	a = make("upper ring a", "definite");
	b = make("upper ring b", "indirect");
	d = make("lower ring a", "indirect");
	e = make("lower ring b", "indirect");
	a[0] = b;
	b[0] = a;
	b[1] = d;
	d[0] = e;
	e[0] = d;
}

static QUIET void trees(void)
{
	void **root = make("cut tree", "definite"), **left = make("tree left", "indirect");
	void **right = make("tree right", "indirect"), **child;

	root[0] = left;
	root[1] = right;
	left[0] = make("tree leaf", "indirect");
	/* Each of two lost blocks leads to it: it is lost through one of them. */
	left = make("parent a", "definite");
	right = make("parent b", "definite");
	child = make("shared child", "indirect");
	left[0] = right[0] = child;
}

static QUIET void places(void)
{
	void *volatile *map;

	in_data[0] = make("in .data", "reachable");
	in_own_tls = make("in the main thread's storage", "reachable");
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	map[8] = make("in a mapping", "reachable");
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	map[8] = make("in a shared mapping", "reachable");
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	map[8] = make("in a mapping without access", "reachable");
	mprotect((void *)map, 4096, PROT_NONE);
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	map[8] = make("in a mapping that is read-only", "reachable");
	mprotect((void *)map, 4096, PROT_READ);
}

static QUIET void kernel(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct sigevent wanted = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	timer_t timer;

	event.data.ptr = make("data of epoll", "reachable");
	epoll_ctl(epoll_create1(0), EPOLL_CTL_ADD, pipes[0], &event);
	wanted.sigev_value.sival_ptr = make("value of a timer", "reachable");
	timer_create(CLOCK_MONOTONIC, &wanted, &timer);
}

static QUIET void codes(void)
{
	uintptr_t word;

	encoded[0] = (uintptr_t)make("2p + 1", "possible") * 2 + 1;
	encoded[1] = ~(uintptr_t)make("complement", "possible");
	encoded[2] = (uintptr_t)make("high tag", "possible") | 0xfffcull << 48;
	encoded[3] = (uintptr_t)make("low tag", "possible") | 1;
	word = (uintptr_t)make("Python int", "possible");
	encoded[4] = (word & ((1u << 30) - 1)) | word >> 30 << 32;
	word = (uintptr_t)make("unaligned", "possible");
	memcpy(packed + 3, &word, sizeof(word));
	/* What leads to the block is lost itself. */
	make("code in a lost block", "definite")[0] =
		(void *)(2 * (uintptr_t)make("coded in a lost block", "definite") + 1);
	encoded[5] = (uintptr_t)make("XOR with a constant", "definite") ^ 0x5a5a5a5a5a5a5a5aull;
}

static pthread_barrier_t ready;

static void *hold(void *argument)
{
	void *volatile on_stack = make("on another thread's stack", "reachable");

	(void)argument;
	in_tls = make("in another thread's storage", "reachable");
	scrub();
	pthread_barrier_wait(&ready);
	pause();
	return on_stack;
}

/* The only pointer is in rbx, while the thread waits in the kernel. */
static void *hold_in_register(void *argument)
{
	char byte;

	(void)argument;
	pthread_barrier_wait(&ready);
#if defined(__x86_64__)
	__asm__ volatile("movq (%[slot]), %%rbx\n\t"
			 "movq $0, (%[slot])\n\t"
			 "xorl %%eax, %%eax\n\t"
			 "syscall"
			 :
			 : [slot] "r"(&handed), "D"((long)pipes[0]), "S"(&byte), "d"(1L)
			 : "rax", "rbx", "rcx", "r11", "memory");
#endif
	return NULL;
}

static QUIET void threads(void)
{
	pthread_t thread;

	pthread_barrier_init(&ready, NULL, 3);
	handed = make("in a register", "reachable");
	pthread_create(&thread, NULL, hold, NULL);
	pthread_create(&thread, NULL, hold_in_register, NULL);
	pthread_barrier_wait(&ready);
	while (handed)
		usleep(1000);
	/* It has the pointer, and is about to wait. */
	usleep(100000);
}

static void print_cases(void)
{
	size_t i;

	printf("[");
	for (i = 0; i < case_count; i++)
		printf("%s{\"name\": \"%s\", \"kind\": \"%s\", \"size\": %zu}", i ? ", " : "",
		       cases[i].name, cases[i].kind, cases[i].size);
	printf("]\n");
	fflush(stdout);
}

int main(void)
{
	char byte;

	if (pipe(pipes))
		return 1;
	chains();
	scrub();
	rings();
	scrub();
	trees();
	scrub();
	places();
	scrub();
	kernel();
	scrub();
	codes();
	scrub();
	threads();
	scrub();
	print_cases();
	scrub();
	VALGRIND_DO_LEAK_CHECK;
	(void)LSAN_LOOK;
	while (read(0, &byte, 1) > 0)
		;
	_exit(0);
}
