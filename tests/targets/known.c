/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every kind of call that the tracer counts, and every way in which one can be counted wrong; each scenario keeps its
 * own account. `known SCENARIO [wait]`.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "truth.h"

#define PAGE 4096UL
#define HUGE_SIZE (1UL << 62)

extern void *reallocarray(void *block, size_t count, size_t size);
/* Not every C library has it, and not every allocator replaces that of the C library. */
extern void *pvalloc(size_t size) __attribute__((weak));

/* Of C23; where the C library has none, these do as its own would. Either way one block is freed by two functions. */
__attribute__((weak, noinline)) void free_sized(void *block, size_t size)
{
	(void)size;
	free(block);
}

__attribute__((weak, noinline)) void free_aligned_sized(void *block, size_t alignment, size_t size)
{
	(void)alignment;
	free_sized(block, size);
}

/* Each function with a result of its own, once and kept, once and freed, with its own size. */

SITE static void *site_malloc(size_t size)
{
	void *block = malloc(size);

	truth_alloc(__func__, size);
	return block;
}

SITE static void *site_calloc(size_t count, size_t size)
{
	void *block = calloc(count, size);

	truth_alloc(__func__, count * size);
	return block;
}

SITE static void *site_realloc_null(size_t size)
{
	void *block = realloc(NULL, size);

	truth_alloc(__func__, size);
	return block;
}

SITE static void *site_reallocarray(size_t count, size_t size)
{
	void *block = reallocarray(NULL, count, size);

	truth_alloc(__func__, count * size);
	return block;
}

SITE static void *site_posix_memalign(size_t size)
{
	void *block = NULL;
	int status = posix_memalign(&block, 64, size);

	HIDE(status);
	truth_alloc(__func__, size);
	return block;
}

SITE static void *site_aligned_alloc(size_t size)
{
	void *block = aligned_alloc(128, size);

	HIDE(block);
	truth_alloc(__func__, size);
	return block;
}

SITE static void *site_memalign(size_t size)
{
	void *block = memalign(256, size);

	HIDE(block);
	truth_alloc(__func__, size);
	return block;
}

SITE static void *site_valloc(size_t size)
{
	void *block = valloc(size);

	HIDE(block);
	truth_alloc(__func__, size);
	return block;
}

SITE static void *site_pvalloc(size_t size)
{
	void *block = pvalloc(size);

	HIDE(block);
	truth_alloc(__func__, size);
	return block;
}

static void calls_round(int i)
{
	size_t n = (size_t)i + 1;

	site_malloc(n);
	free(site_malloc(100 + n));
	truth_free("site_malloc", 100 + n);
	free_sized(site_malloc(200 + n), 200 + n);
	truth_free("site_malloc", 200 + n);
	site_calloc(n, 3);
	free(site_calloc(7, n));
	truth_free("site_calloc", 7 * n);
	site_realloc_null(n + 5);
	free(site_realloc_null(n + 6));
	truth_free("site_realloc_null", n + 6);
	site_reallocarray(n, 11);
	free(site_reallocarray(n, 12));
	truth_free("site_reallocarray", n * 12);
	site_posix_memalign(n + 1);
	free(site_posix_memalign(n + 2));
	truth_free("site_posix_memalign", n + 2);
	site_aligned_alloc(128 * n);
	free_aligned_sized(site_aligned_alloc(128), 128, 128);
	truth_free("site_aligned_alloc", 128);
	site_memalign(n + 3);
	free(site_memalign(n));
	truth_free("site_memalign", n);
	site_valloc(n + 4);
	free(site_valloc(n));
	truth_free("site_valloc", n);
}

static void scenario_calls(void)
{
	int i;

	for (i = 0; i < 100; i++)
		calls_round(i);
}

static void scenario_pvalloc(void)
{
	size_t n;

	for (n = 1; n <= 100 && pvalloc; n++) {
		site_pvalloc(n + 9);
		free(site_pvalloc(n));
		truth_free("site_pvalloc", n);
	}
}

/* malloc(0) is a block of no bytes. */
static void scenario_zero(void)
{
	int i;

	for (i = 0; i < 50; i++)
		site_malloc(0);
	for (i = 0; i < 20; i++) {
		free(site_malloc(0));
		truth_free("site_malloc", 0);
	}
	site_calloc(0, 8);
}

/* What is large is mapped inside malloc: one block of the heap and no mapping. */
static void scenario_nested(void)
{
	int i;

	for (i = 1; i <= 10; i++) {
		site_malloc((size_t)i << 20);
		site_calloc((size_t)i, 300000);
		free(site_malloc((size_t)i << 19));
		truth_free("site_malloc", (size_t)i << 19);
		free(site_calloc((size_t)i, 400000));
		truth_free("site_calloc", (size_t)i * 400000);
	}
}

SITE static void *site_realloc(void *block, size_t size)
{
	void *moved = realloc(block, size);

	HIDE(moved);
	if (moved)
		truth_alloc(__func__, size);
	return moved;
}

/* Compilers remove what they take for a leak of nothing, so the size is hidden. */
static void realloc_zero(size_t first)
{
	void *block = site_malloc(first);
	size_t size = 0;

	HIDE(size);
	truth_free("site_malloc", first);
	block = site_realloc(block, size);
	HIDE(block);
}

static void scenario_realloc_zero(void)
{
	int i;

	for (i = 1; i <= 100; i++)
		realloc_zero((size_t)i + 1);
}

static void scenario_realloc(void)
{
	size_t huge = HUGE_SIZE;
	void *block;
	int i;

	for (i = 1; i <= 100; i++) {
		/* Grown by a little, by much (moved), and shrunk: the old block ends, the new one is this site's. */
		block = site_realloc(site_malloc((size_t)i), (size_t)i + 8);
		truth_free("site_malloc", (size_t)i);
		block = site_realloc(block, (size_t)i * 3000);
		truth_free("site_realloc", (size_t)i + 8);
		block = site_realloc(block, 10);
		truth_free("site_realloc", (size_t)i * 3000);
		if (i % 2) {
			free(block);
			truth_free("site_realloc", 10);
		}
	}
	/* What cannot be had leaves the old block to its first site. */
	HIDE(huge);
	for (i = 0; i < 10; i++) {
		block = site_malloc(77);
		if (site_realloc(block, huge))
			abort();
		if (i % 2) {
			free(block);
			truth_free("site_malloc", 77);
		}
	}
}

/* Calls that fail count nothing. */
static void scenario_failed(void)
{
	size_t huge = HUGE_SIZE, odd = 3;
	void *block = &huge;
	int i;

	HIDE(huge);
	HIDE(odd);
	for (i = 0; i < 20; i++) {
		if (malloc(huge) || calloc(huge, 8) || calloc(8, huge) ||
		    reallocarray(NULL, huge, 16) || memalign(64, huge) || valloc(huge))
			abort();
		if (posix_memalign(&block, odd, 100) != EINVAL ||
		    posix_memalign(&block, 64, huge) != ENOMEM)
			abort();
		site_malloc(9);
	}
}

/* Blocks that one thread allocates and another one frees. */
static void *cross_free(void *blocks)
{
	int i;

	for (i = 0; i < 1000; i++)
		free(((void **)blocks)[i]);
	return NULL;
}

static void *cross_allocate(void *blocks)
{
	int i;

	for (i = 0; i < 1000; i++)
		((void **)blocks)[i] = site_malloc((size_t)i);
	return NULL;
}

static void scenario_cross(void)
{
	void *blocks[1000];
	pthread_t thread;
	int i, round;

	for (round = 0; round < 4; round++) {
		pthread_create(&thread, NULL, cross_allocate, blocks);
		pthread_join(thread, NULL);
		pthread_create(&thread, NULL, round < 3 ? cross_free : cross_allocate, blocks);
		pthread_join(thread, NULL);
		for (i = 0; i < 1000 && round < 3; i++)
			truth_free("site_malloc", (size_t)i);
	}
}

/* The first call of a thread is free: the allocator makes an arena for it there. */
static void scenario_free_first(void)
{
	void *blocks[1000];
	pthread_t thread;
	int i;

	cross_allocate(blocks);
	pthread_create(&thread, NULL, cross_free, blocks);
	pthread_join(thread, NULL);
	for (i = 0; i < 1000; i++)
		truth_free("site_malloc", (size_t)i);
}

SITE static char *site_mmap(size_t size)
{
	char *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	truth_alloc(__func__, size);
	return start;
}

SITE static char *site_mmap_fixed(char *at, size_t size)
{
	char *start = mmap(at, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	truth_alloc(__func__, size);
	return start;
}

SITE static char *site_mremap(char *start, size_t old, size_t size)
{
	char *moved = mremap(start, old, size, MREMAP_MAYMOVE);

	if (moved != MAP_FAILED)
		truth_alloc(__func__, size);
	return moved;
}

static void mappings_round(void)
{
	char *start = site_mmap(10 * PAGE), *other;

	/* A part leaves the rest. */
	munmap(start + 2 * PAGE, 3 * PAGE);
	truth_free_part("site_mmap", 3 * PAGE, 0);
	/* Over a part: that part is the new one's. */
	site_mmap_fixed(start, PAGE);
	truth_free_part("site_mmap", PAGE, 0);
	/* Grown and moved: the old one ends. */
	other = site_mremap(site_mmap(4 * PAGE), 4 * PAGE, 64 * PAGE);
	truth_free("site_mmap", 4 * PAGE);
	/* Shrunk. */
	other = site_mremap(other, 64 * PAGE, 2 * PAGE);
	truth_free("site_mremap", 64 * PAGE);
	/* Failures change nothing. */
	if (mremap(other, 2 * PAGE, HUGE_SIZE, MREMAP_MAYMOVE) != MAP_FAILED ||
	    munmap(other + 1, PAGE) == 0 ||
	    mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		abort();
}

/* One call that ends two neighbours at once. */
static void mappings_neighbours(void)
{
	char *room = site_mmap(8 * PAGE);

	site_mmap_fixed(room, 4 * PAGE);
	site_mmap_fixed(room + 4 * PAGE, 4 * PAGE);
	truth_free("site_mmap", 8 * PAGE);
	munmap(room, 8 * PAGE);
	truth_free("site_mmap_fixed", 4 * PAGE);
	truth_free("site_mmap_fixed", 4 * PAGE);
}

static void scenario_mappings(void)
{
	int i;

	for (i = 0; i < 10; i++) {
		mappings_round();
		mappings_neighbours();
	}
	/* Bytes that were asked for count, not whole pages. */
	site_mmap(5000);
	munmap(site_mmap(6000), 6000);
	truth_free("site_mmap", 6000);
}

/* A timer's signal interrupts the program, in the middle of its allocations too, and jumps out of the handler. */
static sigjmp_buf heal_jump;
static volatile sig_atomic_t heal_armed, heal_count;

static void heal_on_alarm(int number)
{
	(void)number;
	heal_count++;
	if (heal_armed)
		siglongjmp(heal_jump, 1);
}

static void heal_arm(void)
{
	struct itimerval time = { .it_value = { .tv_usec = 200 } };

	setitimer(ITIMER_REAL, &time, NULL);
}

/* Allocations that a signal may cut off anywhere: what they hold is not known to anybody. */
SITE static void heal_churn(void)
{
	for (;;)
		mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void scenario_heal(void)
{
	int i;

	signal(SIGALRM, heal_on_alarm);
	for (i = 0; i < 200; i++) {
		if (!sigsetjmp(heal_jump, 1)) {
			heal_armed = 1;
			heal_arm();
			heal_churn();
		}
		heal_armed = 0;
		/* The very next calls count as if nothing had happened. */
		site_malloc(31);
		free(site_malloc(33));
		truth_free("site_malloc", 33);
	}
}

static void **jump_unwritable;

static void jump_on_fault(int number)
{
	(void)number;
	siglongjmp(heal_jump, 1);
}

/* The allocator faults when it writes down the block: that block is lost. */
SITE static void jump_call(void)
{
	volatile char room[200];

	room[0] = 1;
	if (posix_memalign(jump_unwritable, 64, 999) == 0)
		abort();
	(void)room[0];
}

SITE static void jump_out_of_call(void)
{
	if (!sigsetjmp(heal_jump, 1))
		jump_call();
}

/*
 * Calls from below a frame that does not write over the place where the return address of the call stood: nothing
 * there means that the call has been left.
 */
SITE static void jump_then_allocate(int depth)
{
	volatile char room[1000];

	room[0] = 1;
	if (depth > 0) {
		jump_then_allocate(depth - 1);
	} else {
		site_malloc(31);
		free(site_malloc(33));
		truth_free("site_malloc", 33);
		site_realloc(site_calloc(1, 35), 37);
		truth_free("site_calloc", 35);
	}
	(void)room[0];
}

static void scenario_jumps(void)
{
	static char stack[65536];
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = jump_on_fault };
	int i;

	jump_unwritable = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (jump_unwritable == MAP_FAILED || sigaltstack(&alternate, NULL))
		abort();
	for (i = 0; i < 200; i++) {
		action.sa_flags = i & 1 ? SA_ONSTACK : 0;
		sigaction(SIGSEGV, &action, NULL);
		jump_out_of_call();
		jump_then_allocate(i % 20);
	}
}

/* Whoever changes mappings holds the lock that is needed to ask the kernel for them. */
static void *jump_disturb(void *page)
{
	for (;;)
		mprotect(page, PAGE, PROT_NONE);
	return NULL;
}

static void scenario_jumps_beside(void)
{
	void *page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;

	if (page == MAP_FAILED || pthread_create(&thread, NULL, jump_disturb, page))
		abort();
	scenario_jumps();
}

static void *heal_exit_inside(void *unused)
{
	(void)unused;
	heal_churn();
	return NULL;
}

static void heal_end_thread(int number)
{
	(void)number;
	pthread_exit(NULL);
}

/* Threads that end in the middle of a call. */
static void scenario_exits(void)
{
	pthread_t thread;
	int i;

	signal(SIGUSR2, heal_end_thread);
	for (i = 0; i < 50; i++) {
		pthread_create(&thread, NULL, heal_exit_inside, NULL);
		usleep(300);
		pthread_kill(thread, SIGUSR2);
		pthread_join(thread, NULL);
		site_malloc(21);
	}
}

/* A handler on a stack of its own that allocates by itself. */
static void signal_allocate(int number)
{
	(void)number;
	free(site_calloc(1, 13));
	truth_free("site_calloc", 13);
	site_calloc(1, 17);
}

static void scenario_signals(void)
{
	static char stack[65536];
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = signal_allocate, .sa_flags = SA_ONSTACK };
	int i;

	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR2, &action, NULL);
	for (i = 0; i < 100; i++) {
		site_malloc(5);
		raise(SIGUSR2);
	}
}

/* Blocks that are given back behind the allocator's back, so that their addresses come again without a free. */
static void scenario_reused(void)
{
	unsigned char *block, *previous = NULL;
	int i;

	for (i = 0; i < 20; i++) {
		block = site_malloc(1 << 20);
		if (block == previous)
			truth_free("site_malloc", 1 << 20);
		previous = block;
		/* A large block is a mapping that begins a little before it. */
		if (syscall(SYS_munmap, (unsigned long)block & ~(PAGE - 1), (1 << 20) + PAGE))
			abort();
	}
}

/* Freed here, allocated before the tracer came. */
#define EARLY_BLOCKS 500
static void *early[EARLY_BLOCKS];

static void scenario_early(void)
{
	int i;

	for (i = 0; i < EARLY_BLOCKS; i++)
		free(early[i]);
	site_malloc(12);
}

static void early_prepare(void)
{
	int i;

	for (i = 0; i < EARLY_BLOCKS; i++)
		early[i] = malloc(64);
}

/* More mapping calls than any buffer holds. */
static void scenario_mapstorm(void)
{
	int i;

	for (i = 0; i < 50000; i++) {
		munmap(site_mmap(PAGE), PAGE);
		truth_free("site_mmap", PAGE);
	}
}

/* What no allocator and no way of linking may count differently. */
static void scenario_all(void)
{
	scenario_calls();
	scenario_zero();
	scenario_nested();
	scenario_realloc();
	scenario_realloc_zero();
	scenario_failed();
	scenario_cross();
	scenario_signals();
}

static const struct {
	const char *name;
	void (*run)(void);
} scenarios[] = {
	{ "all", scenario_all },
	{ "calls", scenario_calls },
	{ "pvalloc", scenario_pvalloc },
	{ "zero", scenario_zero },
	{ "nested", scenario_nested },
	{ "realloc", scenario_realloc },
	{ "realloc-zero", scenario_realloc_zero },
	{ "failed", scenario_failed },
	{ "cross", scenario_cross },
	{ "free-first", scenario_free_first },
	{ "mappings", scenario_mappings },
	{ "heal", scenario_heal },
	{ "jumps", scenario_jumps },
	{ "jumps-beside", scenario_jumps_beside },
	{ "exits", scenario_exits },
	{ "signals", scenario_signals },
	{ "reused", scenario_reused },
	{ "early", scenario_early },
	{ "mapstorm", scenario_mapstorm },
};

int main(int argc, char **argv)
{
	size_t i;

	early_prepare();
	truth_begin(argc > 2 ? argv[2] : NULL);
	for (i = 0; argc > 1 && i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		if (strcmp(scenarios[i].name, argv[1]) != 0)
			continue;
		scenarios[i].run();
		truth_end();
		return 0;
	}
	fprintf(stderr, "known: no scenario of that name\n");
	return 2;
}
