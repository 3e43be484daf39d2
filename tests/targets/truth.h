/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a test program keeps its own account: what each of its sites has allocated and freed, in its own words. The tracer
 * must come to the same. A site is a function that is not inlined, so that its name is the innermost frame.
 *
 * truth_begin waits for a line on standard input if the program was called with "wait", so that a tracer can attach
 * before anything happens; truth_end prints the account as JSON and, if so called, waits until standard input is closed.
 * With "stay" it waits at the end only.
 *
 * With TRUTH_RUNS in the environment, truth_begin makes the program go on as often as that, each time in a child of its own,
 * TRUTH_BATCH of them at a time, TRUTH_DELAY_MS after they were forked. A child ends with TRUTH_WRONG if its account is
 * not TRUTH_ACCOUNT; the program prints how many were killed, failed otherwise, and were wrong.
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRUTH_WRONG 9
#define SITE __attribute__((noinline, noclone))
#define SITES_MAX 64

struct truth_site {
	const char *name;
	unsigned long alloc_bytes, alloc_objects, free_bytes, free_objects;
};

static struct truth_site truth_sites[SITES_MAX];
static int truth_waits;

static inline struct truth_site *truth_site(const char *name)
{
	struct truth_site *site = truth_sites;

	while (site->name && strcmp(site->name, name) != 0)
		site++;
	site->name = name;
	return site;
}

/* Atomic, because threads count too; the sites themselves are registered by the first of them. */
static inline void truth_alloc(const char *name, unsigned long bytes)
{
	struct truth_site *site = truth_site(name);

	__atomic_fetch_add(&site->alloc_bytes, bytes, __ATOMIC_RELAXED);
	__atomic_fetch_add(&site->alloc_objects, 1, __ATOMIC_RELAXED);
}

/* Part of an object: the object itself counts with `objects` 1, once. */
static inline void truth_free_part(const char *name, unsigned long bytes, unsigned long objects)
{
	struct truth_site *site = truth_site(name);

	__atomic_fetch_add(&site->free_bytes, bytes, __ATOMIC_RELAXED);
	__atomic_fetch_add(&site->free_objects, objects, __ATOMIC_RELAXED);
}

static inline void truth_free(const char *name, unsigned long bytes)
{
	truth_free_part(name, bytes, 1);
}

/* Wait for `rest_ms`. Returns 1 at once when standard input is closed or readable: the program should end. */
static inline int truth_is_closed(int rest_ms)
{
	struct pollfd input = { STDIN_FILENO, POLLIN, 0 };

	return poll(&input, 1, rest_ms) > 0;
}

static inline long truth_option(const char *name, long otherwise)
{
	const char *value = getenv(name);

	return value ? atol(value) : otherwise;
}

/* Fork `count` children and let them go on together. Returns in each of them, and in the parent. */
static inline pid_t truth_fork(long count)
{
	int gate[2];
	char byte;

	if (pipe(gate))
		abort();
	while (count--) {
		pid_t child = fork();

		if (child < 0)
			abort();
		if (child)
			continue;
		close(gate[1]);
		if (read(gate[0], &byte, 1))
			abort();
		close(gate[0]);
		return 0;
	}
	close(gate[0]);
	usleep((useconds_t)truth_option("TRUTH_DELAY_MS", 0) * 1000);
	close(gate[1]);
	return 1;
}

static inline void truth_run_children(long runs)
{
	long batch = truth_option("TRUTH_BATCH", 1), killed = 0, failed = 0, wrong = 0, left;
	int status;

	for (left = runs; left; left -= batch) {
		batch = batch < left ? batch : left;
		if (!truth_fork(batch))
			return;
		while (wait(&status) > 0) {
			killed += WIFSIGNALED(status);
			wrong += WIFEXITED(status) && WEXITSTATUS(status) == TRUTH_WRONG;
			failed += WIFEXITED(status) && WEXITSTATUS(status) &&
				  WEXITSTATUS(status) != TRUTH_WRONG;
		}
	}
	printf("{\"runs\": %ld, \"killed\": %ld, \"failed\": %ld, \"wrong\": %ld}\n", runs, killed,
	       failed, wrong);
	exit(0);
}

static inline void truth_begin(const char *mode)
{
	long runs = truth_option("TRUTH_RUNS", 0);
	char byte;

	if (runs > 0)
		truth_run_children(runs);
	truth_waits = mode && (!strcmp(mode, "wait") || !strcmp(mode, "stay"));
	if (mode && !strcmp(mode, "wait"))
		while (read(0, &byte, 1) == 1 && byte != '\n')
			;
}

static inline void truth_end(void)
{
	static char text[SITES_MAX * 128];
	const char *expected = getenv("TRUTH_ACCOUNT");
	const struct truth_site *site;
	size_t length = 0;
	char byte;

	for (site = truth_sites; site->name; site++)
		length += (size_t)snprintf(text + length, sizeof(text) - length,
					   "%s\"%s\": [%lu, %lu, %lu, %lu]", length ? ", " : "{",
					   site->name, site->alloc_bytes, site->alloc_objects,
					   site->free_bytes, site->free_objects);
	snprintf(text + length, sizeof(text) - length, "%s}", length ? "" : "{");
	if (expected)
		exit(strcmp(text, expected) ? TRUTH_WRONG : 0);
	printf("%s\n", text);
	fflush(stdout);
	if (truth_waits)
		while (read(0, &byte, 1) == 1)
			;
}

/* Keeps the compiler from knowing a value, and from dropping what makes it. */
#define HIDE(value) __asm__ volatile("" : "+r"(value)::"memory")

#endif
