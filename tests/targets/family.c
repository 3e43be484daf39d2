/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process with children that keep accounts of their own. `family FOLDER` has two children and a grandchild by fork, and
 * one by posix_spawn, which executes another program. Each prints its pid and does nothing until the file FOLDER/go
 * is there; then it allocates and frees, its parent's block too, prints its account, and ends when there is FOLDER/end.
 */
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include "truth.h"

extern char **environ;

static const char *folder;

/* Without the allocator, which is to be quiet meanwhile. */
static void await(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	while (access(path, F_OK))
		usleep(2000);
}

static void say(const char *what)
{
	char line[64];
	int length = snprintf(line, sizeof(line), "%s %d\n", what, getpid());

	if (write(1, line, (size_t)length) != length)
		abort();
}

SITE static void *site_parent(size_t size)
{
	void *block = malloc(size);

	HIDE(block);
	truth_alloc(__func__, size);
	return block;
}

SITE static void *site_child(size_t size)
{
	void *block = malloc(size);

	HIDE(block);
	truth_alloc(__func__, size);
	return block;
}

/* One line, written at once: others write to the same pipe. */
static void print_account(void)
{
	const struct truth_site *site;
	char line[512];
	size_t length = (size_t)snprintf(line, sizeof(line), "account %d {", getpid());

	for (site = truth_sites; site->name; site++)
		length += (size_t)snprintf(
			line + length, sizeof(line) - length, "%s\"%s\": [%lu, %lu, %lu, %lu]",
			site == truth_sites ? "" : ", ", site->name, site->alloc_bytes,
			site->alloc_objects, site->free_bytes, site->free_objects);
	length += (size_t)snprintf(line + length, sizeof(line) - length, "}\n");
	if (write(1, line, length) != (ssize_t)length)
		abort();
}

static void be_child(void *inherited, size_t size)
{
	int i;

	memset(truth_sites, 0, sizeof(truth_sites));
	say("child");
	await("go");
	for (i = 0; i < 5; i++)
		site_child(size);
	for (i = 0; i < 3; i++) {
		free(site_child(size));
		truth_free("site_child", size);
	}
	free(inherited);
	print_account();
	await("end");
	_exit(0);
}

static void have_children(void *inherited)
{
	if (!fork()) {
		if (!fork())
			be_child(inherited, 300);
		be_child(inherited, 200);
	}
	if (!fork())
		be_child(inherited, 100);
}

static void spawn(const char *program)
{
	char *arguments[] = { (char *)program, (char *)folder, (char *)"spawned", NULL };
	pid_t pid;

	if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, environ))
		abort();
}

int main(int argc, char **argv)
{
	void *inherited;

	if (argc < 2)
		return 2;
	folder = argv[1];
	if (argc > 2)
		be_child(NULL, 1000);
	say("parent");
	await("begin");
	inherited = site_parent(5000);
	site_parent(600);
	have_children(inherited);
	spawn(argv[0]);
	await("go");
	free(inherited);
	truth_free("site_parent", 5000);
	print_account();
	await("end");
	while (wait(NULL) > 0)
		;
	say("alone");
	await("over");
	return 0;
}
