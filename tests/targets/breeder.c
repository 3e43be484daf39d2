/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that never rests: `breeder PLUGIN SECONDS [wait]` has child after child, some of which execute programs, opens
 * and closes a library, and keeps an account of what it allocates itself meanwhile. With 0 seconds it goes on until there is a
 * line to be read.
 */
#include <dlfcn.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>

#include "truth.h"

extern char **environ;

SITE static void *site_breeder(size_t size)
{
	void *block = malloc(size);

	HIDE(block);
	truth_alloc(__func__, size);
	return block;
}

SITE static void *site_offspring(size_t size)
{
	void *block = malloc(size);

	HIDE(block);
	return block;
}

static void fork_child(unsigned long round)
{
	pid_t child = fork();
	int i;

	if (!child) {
		for (i = 0; i < 20; i++) {
			free(site_offspring(100));
			site_offspring(50);
		}
		/* Some live long enough to be followed. */
		if (!(round % 8))
			usleep(50000);
		_exit(0);
	}
}

static void spawn_child(void)
{
	char *arguments[] = { (char *)"breeder", NULL };
	pid_t child;

	posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ);
}

static void open_plugin(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*leak)(size_t size);

	if (!library)
		abort();
	leak = (void (*)(size_t))dlsym(library, "plugin_leak");
	leak(10);
	dlclose(library);
}

static int has_line(void)
{
	struct pollfd input = { .fd = 0, .events = POLLIN };

	return poll(&input, 1, 0) != 0;
}

static void breed(const char *plugin, time_t seconds)
{
	time_t end = time(NULL) + seconds;
	unsigned long round;

	for (round = 0; seconds ? time(NULL) < end : !has_line(); round++) {
		void *block = site_breeder(30);

		if (round % 2) {
			free(block);
			truth_free("site_breeder", 30);
		}
		fork_child(round);
		if (!(round % 4))
			spawn_child();
		open_plugin(plugin);
		usleep(5000);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 0;
	truth_begin(argv[argc - 1]);
	breed(argv[1], atoi(argv[2]));
	truth_end();
	return 0;
}
