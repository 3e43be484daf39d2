/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that does not stay what it was. `changes exec [wait]` leaks, then executes itself as `changes after`, which
 * leaks less. `changes dlopen PLUGIN [wait]` opens a library that leaks, closes it, and opens it again.
 * `changes fork [wait]` has children that allocate and free. `changes thread-exec [wait]` is `changes exec`, but a thread
 * of its own executes the program, which waits for another line before it begins. `changes thread-only [wait]` ends its
 * first thread and runs on with another one.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>

#include "truth.h"

SITE static void *site_before(size_t size)
{
	void *block = malloc(size);

	HIDE(block);
	truth_alloc(__func__, size);
	return block;
}

SITE static void *site_after(size_t size)
{
	void *block = malloc(size);

	HIDE(block);
	truth_alloc(__func__, size);
	return block;
}

static void run_exec(char **argv)
{
	char *again[] = { argv[0], (char *)"after", truth_waits ? (char *)"waiting" : NULL, NULL };
	int i;

	for (i = 0; i < 100; i++)
		site_before(1000);
	execv("/proc/self/exe", again);
	abort();
}

static void *thread_exec(void *argument)
{
	char *again[] = { argument, (char *)"after", (char *)"wait", NULL };

	execv("/proc/self/exe", again);
	abort();
}

static void run_thread_exec(char **argv)
{
	pthread_t thread;

	site_before(1000);
	if (pthread_create(&thread, NULL, thread_exec, argv[0]))
		abort();
	for (;;)
		pause();
}

static void *thread_rest(void *argument)
{
	for (;;)
		pause();
	return argument;
}

static _Noreturn void run_thread_only(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, thread_rest, NULL))
		abort();
	pthread_exit(NULL);
}

static void run_after(void)
{
	int i;

	for (i = 0; i < 10; i++)
		site_after(50);
}

static void run_plugin(const char *path)
{
	void (*leak)(size_t size);
	void *library;
	int i;

	for (i = 0; i < 3; i++) {
		library = dlopen(path, RTLD_NOW);
		if (!library)
			abort();
		leak = (void (*)(size_t))dlsym(library, "plugin_leak");
		leak(500);
		truth_alloc("plugin_leak", 500);
		dlclose(library);
		usleep(20000);
	}
}

static void run_fork(void)
{
	void *block = site_before(333);
	int i;

	for (i = 0; i < 20; i++) {
		pid_t child = fork();

		if (!child) {
			free(block);
			free(malloc(10));
			site_before(5);
			_exit(0);
		}
		waitpid(child, NULL, 0);
		site_after(7);
	}
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "after")) {
		truth_waits = argc > 2;
		if (argc > 2 && !strcmp(argv[2], "wait"))
			truth_begin("wait");
		run_after();
		truth_end();
		return 0;
	}
	truth_begin(argv[argc - 1]);
	if (!strcmp(argv[1], "exec"))
		run_exec(argv);
	else if (!strcmp(argv[1], "thread-exec"))
		run_thread_exec(argv);
	else if (!strcmp(argv[1], "thread-only"))
		run_thread_only();
	else if (!strcmp(argv[1], "dlopen"))
		run_plugin(argv[2]);
	else
		run_fork();
	truth_end();
	return 0;
}
