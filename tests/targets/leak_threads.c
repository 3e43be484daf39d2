/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks that only a thread's own storage holds: that of libraries which were opened late, and values of pthread_setspecific; of the first thread
 * and of another one. Each has a size of its own; one more is lost. Prints a line of JSON with the cases, then waits for its input to end.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scrub.h"

#define QUIET __attribute__((noinline))
#define KEYS 40
/* glibc has values of so many keys in a thread's descriptor, and others in blocks. */
#define KEYS_INSIDE 32

/* What follows the name of a library for this C library. musl has no room beside the program's storage for one that is opened late. */
#ifdef MUSL
#define LIBRARIES "-musl"
static __thread void *volatile own;
#else
#define LIBRARIES ""
#endif

typedef void *volatile *(*slot_function)(void);

struct place {
	const char *name;
	size_t size;
};

static struct place places[16];
static size_t place_count;
static pthread_key_t keys[KEYS];
static slot_function dynamic_slot, static_slot;
static pthread_barrier_t ready;

static QUIET void *make(const char *name)
{
	const size_t size = 2008 + 16 * place_count;
	void *block = malloc(size);

	memset(block, 0, size);
	places[place_count++] = (struct place){ name, size };
	return block;
}

#ifdef MUSL
static void *volatile *own_slot(void)
{
	return &own;
}
#endif

static QUIET void hold(void)
{
	*dynamic_slot() = make("storage of its own of a library");
	*static_slot() = make("storage beside the program's of a library");
	pthread_setspecific(keys[1], make("the value of a key"));
	pthread_setspecific(keys[KEYS_INSIDE + 2], make("the value of a key above the first ones"));
}

static void *run(void *unused)
{
	hold();
	scrub();
	pthread_barrier_wait(&ready);
	for (;;)
		pause();
	return unused;
}

static slot_function open_library(const char *program, const char *name)
{
	const char *end = strrchr(program, '/');
	char path[4096];
	void *library;

	snprintf(path, sizeof(path), "%.*s/%s%s.so", end ? (int)(end - program) : 1,
		 end ? program : ".", name, LIBRARIES);
	library = dlopen(path, RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return (slot_function)dlsym(library, "tls_slot");
}

static QUIET void lose(void)
{
	make("lost");
}

static void print_places(void)
{
	size_t i;

	printf("[");
	for (i = 0; i < place_count; i++)
		printf("%s{\"name\": \"%s\", \"size\": %zu}", i ? ", " : "", places[i].name,
		       places[i].size);
	printf("]\n");
	fflush(stdout);
}

int main(int count, char **arguments)
{
	pthread_t thread;
	char byte;
	int i;

	(void)count;
	pthread_barrier_init(&ready, NULL, 2);
	for (i = 0; i < KEYS; i++)
		pthread_key_create(&keys[i], NULL);
	dynamic_slot = open_library(arguments[0], "tls_dynamic");
#ifdef MUSL
	static_slot = own_slot;
#else
	static_slot = open_library(arguments[0], "tls_static");
#endif
	hold();
	pthread_create(&thread, NULL, run, NULL);
	pthread_barrier_wait(&ready);
	lose();
	scrub();
	print_places();
	while (read(0, &byte, 1) > 0)
		;
	_exit(0);
}
