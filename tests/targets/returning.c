/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocations by a signal handler that has interrupted the code to which a return probe has a function return, before that code
 * has called the kernel: `returning HITS ROUNDS` ends after so many of them, or so many rounds. It prints its account, and
 * how often the handler has allocated. Where nothing is traced, or the kernel has no such code, that is 0.
 */
#include <signal.h>
#include <stdint.h>
#include <sys/time.h>
#include <ucontext.h>

#include "truth.h"

/* Of the code on x86-64: the first byte behind the system call. */
#define CODE_CALLED 13

static uintptr_t code;
static volatile sig_atomic_t hits;

SITE static void site_handler(void)
{
	void *block = malloc(33);

	HIDE(block);
	truth_alloc(__func__, 33);
	free(block);
	truth_free(__func__, 33);
}

static void handle(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
#if defined(__x86_64__)
	uintptr_t at = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	if (code && at >= code && at < code + CODE_CALLED) {
		site_handler();
		hits++;
	}
#else
	(void)context;
#endif
}

SITE static void site_round(void)
{
	void *block = malloc(77), *moved;

	HIDE(block);
	truth_alloc(__func__, 77);
	moved = realloc(block, 2000);
	HIDE(moved);
	truth_free(__func__, 77);
	truth_alloc(__func__, 2000);
	free(moved);
	truth_free(__func__, 2000);
}

static void find_code(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, "[uprobes]") && sscanf(line, "%lx", &start) == 1)
			code = start;
	if (maps)
		fclose(maps);
}

static void set_timer(long us)
{
	struct itimerval times = { .it_interval.tv_usec = us, .it_value.tv_usec = us };

	setitimer(ITIMER_REAL, &times, NULL);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_RESTART | SA_SIGINFO };
	int wanted = argc > 1 ? atoi(argv[1]) : 1;
	long rounds = argc > 2 ? atol(argv[2]) : 1000;

	free(malloc(1));
	find_code();
	truth_begin(NULL);
	sigaction(SIGALRM, &action, NULL);
	set_timer(300);
	while (code && hits < wanted && rounds--)
		site_round();
	set_timer(0);
	fprintf(stderr, "hits %d\n", (int)hits);
	truth_end();
	return 0;
}
