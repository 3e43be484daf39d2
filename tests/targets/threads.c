/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that have names, and end: each name has an account of its own. Blocks are freed by the thread, by another one, or not. */
#include <pthread.h>
#include <sys/prctl.h>

#include "truth.h"

#define KEPT_MAX 4096

/* It is called `later` for the second half of its work; NULL = as before. */
struct job {
	const char *name, *later;
	unsigned long count, size;
};

static const struct job jobs[] = {
	{ "worker", NULL, 300, 100 },
	{ "worker", NULL, 200, 1000 },
	{ "io;x y", NULL, 99, 32 },
	{ "fifteen-letters", "renamed", 150, 64 },
};

#define JOBS (sizeof(jobs) / sizeof(jobs[0]))

/* What main is to free, and whose it is. */
static struct {
	void *block;
	unsigned long size;
	const char *name;
} kept[KEPT_MAX];
static unsigned long kept_count;

static void keep(void *block, unsigned long size, const char *name)
{
	unsigned long at = __atomic_fetch_add(&kept_count, 1, __ATOMIC_RELAXED);

	if (at >= KEPT_MAX)
		abort();
	kept[at].block = block;
	kept[at].size = size;
	kept[at].name = name;
}

static SITE void make(const char *name, unsigned long i, unsigned long size)
{
	void *block = malloc(size);

	HIDE(block);
	truth_alloc(name, size);
	if (i % 3 == 0) {
		free(block);
		truth_free(name, size);
	} else if (i % 3 == 1) {
		keep(block, size, name);
	}
}

static void *run(void *context)
{
	const struct job *job = context;
	const char *name = job->name;
	unsigned long i;

	for (i = 0; i < job->count; i++) {
		if (job->later && i == job->count / 2)
			name = job->later;
		prctl(PR_SET_NAME, name);
		make(name, i, job->size + i);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[JOBS];
	size_t i;

	for (i = 0; i < JOBS; i++) {
		truth_site(jobs[i].name);
		if (jobs[i].later)
			truth_site(jobs[i].later);
	}
	truth_begin(argc > 1 ? argv[1] : NULL);
	for (i = 0; i < JOBS; i++)
		if (pthread_create(&threads[i], NULL, run, (void *)(size_t)&jobs[i]))
			abort();
	for (i = 0; i < JOBS; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < kept_count; i++) {
		free(kept[i].block);
		truth_free(kept[i].name, kept[i].size);
	}
	truth_end();
	return 0;
}
