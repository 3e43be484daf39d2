/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocations that a signal handler makes in the middle of another one, on each kind of stack, by a program that keeps its own
 * account: `interrupted own|below|above|touching|leave [wait]`.
 *
 *   own       the handler runs on the stack of the thread
 *   below     on an alternate stack with lower addresses
 *   above     with higher addresses
 *   touching  with higher addresses, in the same mapping
 *   leave     in turn on all of these; each second time the handler jumps out
 *   mappings  as above, but it makes mappings only
 *
 * posix_memalign stores its result behind a pointer to memory that cannot be written: there the signal comes. The allocator
 * is done then, so its functions may be called. INTERRUPTED_ROUNDS is how often.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>

#include "truth.h"

#define PAGE 4096ul
#define STACK (64 * PAGE)

static _Thread_local void **result;
static _Thread_local sigjmp_buf out;
static _Thread_local int leaves;
static int mappings_only;

SITE static void *site_handler_malloc(size_t size)
{
	void *block = malloc(size);

	HIDE(block);
	truth_alloc("site_handler_malloc", size);
	return block;
}

SITE static void *site_handler_calloc(size_t size)
{
	void *block = calloc(1, size);

	HIDE(block);
	truth_alloc("site_handler_calloc", size);
	return block;
}

SITE static void *site_handler_realloc(void *old, size_t old_size, size_t size)
{
	void *block = realloc(old, size);

	HIDE(block);
	truth_free("site_handler_malloc", old_size);
	truth_alloc("site_handler_realloc", size);
	return block;
}

SITE static void *site_handler_mmap(size_t size)
{
	void *block = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	HIDE(block);
	truth_alloc("site_handler_mmap", size);
	return block;
}

SITE static void *site_malloc(size_t size)
{
	void *block = malloc(size);

	HIDE(block);
	truth_alloc("site_malloc", size);
	return block;
}

/* The signal comes in the middle. It counts if it has returned. */
SITE static void *site_posix_memalign(size_t size)
{
	if (posix_memalign(result, 64, size))
		abort();
	truth_alloc("site_posix_memalign", size);
	return *result;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	if (info->si_addr != (void *)result || mprotect(result, PAGE, PROT_READ | PROT_WRITE))
		abort();
	munmap(site_handler_mmap(3 * PAGE), 3 * PAGE);
	truth_free("site_handler_mmap", 3 * PAGE);
	if (!mappings_only) {
		site_handler_malloc(51);
		site_handler_realloc(site_handler_malloc(52), 52, 5000);
		free(site_handler_calloc(53));
		truth_free("site_handler_calloc", 53);
	}
	if (leaves)
		siglongjmp(out, 1);
}

static void round_of(int number)
{
	if (mprotect(result, PAGE, PROT_NONE))
		abort();
	leaves = number < 0;
	if (!sigsetjmp(out, 1)) {
		free(site_posix_memalign(999));
		truth_free("site_posix_memalign", 999);
	}
	site_malloc(7);
}

struct work {
	int rounds;
	void *alternate; /* NULL = none */
	int leaves;
};

static void *work_run(void *argument)
{
	struct work *work = argument;
	stack_t alternate = { .ss_sp = work->alternate, .ss_size = STACK };
	int i;

	result = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (result == MAP_FAILED || (work->alternate && sigaltstack(&alternate, NULL)))
		abort();
	for (i = 0; i < work->rounds; i++)
		round_of(work->leaves && i % 2 ? -1 : i);
	munmap(result, PAGE);
	return NULL;
}

/* The thread's stack and the alternate one are in one piece of memory, with a gap or without. */
static void run_in_thread(int rounds, const char *kind, int leaves_too)
{
	char *memory =
		mmap(NULL, 3 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int below = !strcmp(kind, "below"), own = !strcmp(kind, "own");
	char *stack = below ? memory + 2 * STACK : memory;
	char *alternate = below ? memory : memory + 2 * STACK;
	struct work work = { .rounds = rounds, .leaves = leaves_too };
	pthread_attr_t attributes;
	pthread_t thread;

	if (memory == MAP_FAILED)
		abort();
	if (!strcmp(kind, "touching"))
		alternate = stack + STACK;
	else
		mprotect(memory + STACK, STACK, PROT_NONE);
	if (!own)
		work.alternate = alternate;
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, stack, STACK);
	if (pthread_create(&thread, &attributes, work_run, &work) || pthread_join(thread, NULL))
		abort();
	munmap(memory, 3 * STACK);
}

int main(int argc, char **argv)
{
	static const char *const kinds[] = { "own", "below", "above", "touching" };
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_ONSTACK | SA_SIGINFO };
	const char *scenario = argc > 1 ? argv[1] : "", *wanted = getenv("INTERRUPTED_ROUNDS");
	int rounds = wanted ? atoi(wanted) : 100;
	size_t i;

	sigaction(SIGSEGV, &action, NULL);
	truth_begin(argc > 2 ? argv[2] : NULL);
	mappings_only = !strcmp(scenario, "mappings");
	if (mappings_only)
		scenario = "above";
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(scenario, kinds[i]) || !strcmp(scenario, "leave"))
			run_in_thread(rounds, kinds[i], !strcmp(scenario, "leave"));
	truth_end();
	return 0;
}
