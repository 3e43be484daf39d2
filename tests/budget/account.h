/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What programs of the budget's corpus share: they do paced requests, leak on purpose, and count both. To each line of their input they
 * answer with one line of JSON: what each site has leaked since the start, requests and CPU time since the start, and the longest
 * request since the last answer. They begin to leak as "leak" is their first argument, or at a line that begins with an l. They end
 * with their input.
 */
#ifndef ACCOUNT_H
#define ACCOUNT_H

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SITE __attribute__((noinline, noclone))
#define ACCOUNT_LEAKS 8

static struct account {
	const char *names[ACCOUNT_LEAKS];
	unsigned long blocks[ACCOUNT_LEAKS], bytes[ACCOUNT_LEAKS];
	unsigned long requests, stall_ns, random, sum;
	int leaking;
} account = { .random = 88172645463325252UL };

static inline unsigned long account_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (unsigned long)now.tv_sec * 1000000000UL + (unsigned long)now.tv_nsec;
}

static inline unsigned long account_draw(unsigned long *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

/* Threads count, too. */
static inline void account_leak(int leak, const char *name, unsigned long bytes)
{
	account.names[leak] = name;
	__atomic_fetch_add(&account.blocks[leak], 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&account.bytes[leak], bytes, __ATOMIC_RELAXED);
}

static inline void account_request(unsigned long begin_ns)
{
	unsigned long took_ns = account_clock(CLOCK_MONOTONIC) - begin_ns;
	unsigned long longest = __atomic_load_n(&account.stall_ns, __ATOMIC_RELAXED);

	while (took_ns > longest &&
	       !__atomic_compare_exchange_n(&account.stall_ns, &longest, took_ns, 0,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	__atomic_fetch_add(&account.requests, 1, __ATOMIC_RELAXED);
}

/* What a request does beside its memory: takes some time. */
static inline unsigned long account_compute(unsigned long *state, int turns)
{
	unsigned long sum = 0;

	while (turns--)
		sum += account_draw(state) % 1009;
	return sum;
}

static inline void account_answer(void)
{
	const char *comma = "";
	int i;

	printf("{\"leaks\": {");
	for (i = 0; i < ACCOUNT_LEAKS; i++) {
		if (!account.names[i])
			continue;
		printf("%s\"%s\": [%lu, %lu]", comma, account.names[i], account.blocks[i],
		       account.bytes[i]);
		comma = ", ";
	}
	printf("}, \"requests\": %lu, \"cpu_ns\": %lu, \"stall_ns\": %lu}\n", account.requests,
	       account_clock(CLOCK_PROCESS_CPUTIME_ID),
	       __atomic_exchange_n(&account.stall_ns, 0, __ATOMIC_RELAXED));
	fflush(stdout);
}

/* Answer if there is a line. False at the end of the input. */
static inline int account_poll(void)
{
	struct pollfd input = { .fd = 0, .events = POLLIN };
	char line[64];

	if (poll(&input, 1, 0) <= 0)
		return 1;
	if (read(0, line, sizeof(line)) <= 0)
		return 0;
	account.leaking |= line[0] == 'l';
	account_answer();
	return 1;
}

/* Call `request` so many times a second until the input ends, as far as there is a CPU for it. What was missed is not made up for. */
static inline void account_serve(void (*request)(void), unsigned long per_second)
{
	const unsigned long tick_ns = 2000000, batch = per_second / 500 ? per_second / 500 : 1;
	unsigned long next_ns = account_clock(CLOCK_MONOTONIC), now_ns, begin_ns, i;
	struct timespec until;

	while (account_poll()) {
		for (i = 0; i < batch; i++) {
			begin_ns = account_clock(CLOCK_MONOTONIC);
			request();
			account_request(begin_ns);
		}
		next_ns += tick_ns;
		now_ns = account_clock(CLOCK_MONOTONIC);
		if (next_ns + 50 * tick_ns < now_ns)
			next_ns = now_ns;
		until = (struct timespec){ (time_t)(next_ns / 1000000000),
					   (long)(next_ns % 1000000000) };
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
}

static inline void account_begin(int argc, char **argv)
{
	account.leaking = argc > 1 && !strcmp(argv[1], "leak");
	printf("ready\n");
	fflush(stdout);
}

static inline unsigned long account_rate(int argc, char **argv, unsigned long otherwise)
{
	return argc > 2 ? strtoul(argv[2], NULL, 10) : otherwise;
}

#endif
