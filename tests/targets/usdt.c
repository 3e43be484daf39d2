/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program whose allocator publishes samples (sampled.c), and which adds up itself what they represent:
 *
 *   usdt count N [wait]      N rounds of many sizes, of which some are freed; the account of each site
 *   usdt near N [wait]       the same without frees; with what was really asked for
 *   usdt dlopen FILE wait    the same with an allocator that is opened only then: it says so, and waits once more
 *   usdt fork [wait]         two accounts, of a parent and its child
 *   usdt wrong [wait]        samples that represent less than themselves, or too much
 *   usdt spin                until it is ended: what the semaphores say, each time a line is read
 *   usdt pairs N             N blocks, freed at once; how often a probe was passed
 */
#include <dlfcn.h>
#include <sys/wait.h>

#include "sampled.h"
#include "truth.h"

#if defined(OPENED)
static void *library;
#define CALL(name) ((__typeof__(&name))dlsym(library, #name))
#define VARIABLE(name) ((__typeof__(&name))dlsym(library, #name))
#else
#define CALL(name) (&name)
#define VARIABLE(name) (&name)
#endif

#define BLOCKS 2000

static struct {
	void *block;
	const char *site;
} blocks[BLOCKS];

static void truth_sample(const char *name)
{
	struct sampled_block *last = VARIABLE(sampled_last_alloc);
	struct truth_site *site = truth_site(name);

	if (!last->weight)
		return;
	site->alloc_bytes += last->weight;
	site->alloc_objects += last->objects;
}

static void truth_sample_end(const char *name)
{
	struct sampled_block *last = VARIABLE(sampled_last_free);
	struct truth_site *site = truth_site(name);

	if (!last->weight)
		return;
	site->free_bytes += last->weight;
	site->free_objects += last->objects;
}

SITE static void *site_malloc(size_t size)
{
	void *block = CALL(je_malloc)(size);

	HIDE(block);
	truth_sample(__func__);
	return block;
}

SITE static void *site_other(size_t size)
{
	void *block = CALL(je_malloc)(size);

	HIDE(block);
	truth_sample(__func__);
	return block;
}

SITE static void *site_large(size_t size)
{
	void *block = CALL(je_malloc)(size);

	HIDE(block);
	truth_sample(__func__);
	return block;
}

SITE static void *site_calloc(size_t size)
{
	void *block = CALL(je_calloc)(2, size / 2 + 1);

	HIDE(block);
	truth_sample(__func__);
	return block;
}

SITE static void *site_realloc(void *old, const char *site, size_t size)
{
	void *block = CALL(je_realloc)(old, size);

	HIDE(block);
	truth_sample_end(site);
	truth_sample(__func__);
	return block;
}

static void drop(int at)
{
	CALL(je_free)(blocks[at].block);
	truth_sample_end(blocks[at].site);
	blocks[at].block = NULL;
}

/* One of the sites, in turn, with a size of its own. */
static void fill(int round, int at)
{
	size_t size = 16 + (size_t)(round * 37 + at * 11) % 3000;

	switch ((round + at) % 4) {
	case 0:
		blocks[at].block = site_malloc(size);
		blocks[at].site = "site_malloc";
		break;
	case 1:
		blocks[at].block = at % 50 ? site_other(size) : site_large(100000);
		blocks[at].site = at % 50 ? "site_other" : "site_large";
		break;
	case 2:
		blocks[at].block = site_calloc(at % 3 ? size : 1022);
		blocks[at].site = "site_calloc";
		break;
	default:
		blocks[at].block = site_malloc(size);
		blocks[at].block = site_realloc(blocks[at].block, "site_malloc", 2 * size);
		blocks[at].site = "site_realloc";
	}
}

static void run_count(int rounds, int frees)
{
	int round, at;

	for (round = 0; round < rounds; round++)
		for (at = 0; at < BLOCKS; at++) {
			if (blocks[at].block && frees)
				drop(at);
			fill(round, at);
		}
	for (at = 0; at < BLOCKS && frees; at += 3)
		drop(at);
}

/* Published last, so that it is no site's. */
static void print_asked(void)
{
	struct truth_site *asked = truth_site("asked");

	asked->alloc_bytes = *VARIABLE(sampled_bytes);
	asked->alloc_objects = *VARIABLE(sampled_fired);
}

static void run_wrong(void)
{
	static const unsigned long lies[] = { 1, 1ul << 48, ~0ul };
	size_t i;

	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		*VARIABLE(sampled_lie) = lies[i];
		CALL(je_malloc)(1 << 20);
	}
	site_malloc(1 << 20);
}

static void run_spin(void)
{
	char byte;

	printf("ready\n");
	fflush(stdout);
	while (read(0, &byte, 1) == 1) {
		printf("%d\n", CALL(sampled_semaphores)());
		fflush(stdout);
	}
}

static void run_pairs(long count)
{
	void *block;
	long i;

	for (i = 0; i < count; i++) {
		block = CALL(je_malloc)(64);
		HIDE(block);
		CALL(je_free)(block);
	}
}

/* A child has its parent's memory and its own account. */
static void run_fork(void)
{
	pid_t child;

	run_count(2, 0);
	child = fork();
	if (child < 0)
		abort();
	if (child == 0) {
		memset(truth_sites, 0, sizeof(truth_sites));
		/* Probes come a little after a child does. */
		usleep(1500000);
		run_count(1, 0);
		print_asked();
		truth_end();
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const char *last = argc > 2 ? argv[argc - 1] : "";
	int count = argc > 2 ? atoi(argv[2]) : 0;

	truth_begin(last);
#if defined(OPENED)
	library = dlopen(argv[2], RTLD_NOW);
	if (!library)
		return 2;
	/* Probes come a little after a library does. */
	printf("opened\n");
	fflush(stdout);
	truth_begin(last);
	count = 3;
#endif
	if (!strcmp(what, "count") || !strcmp(what, "dlopen"))
		run_count(count, 1);
	else if (!strcmp(what, "near"))
		run_count(count, 0);
	else if (!strcmp(what, "fork"))
		run_fork();
	else if (!strcmp(what, "wrong"))
		run_wrong();
	else if (!strcmp(what, "spin"))
		run_spin();
	else if (!strcmp(what, "pairs"))
		run_pairs(atol(argv[2]));
	else
		return 2;
	print_asked();
	truth_end();
	return 0;
}
