/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_open_mapping on files that the test mapped itself, so that it knows what they hold: awkward names, deleted,
 * replaced, in another mount namespace.
 */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "scratch.h"
#include "system/proc.h"

#define CONTENT "the content of the mapped file"

static const struct proc_mapping *mapping_at(const struct proc_map_list *list, uint64_t address)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (address >= list->items[i].start && address < list->items[i].end)
			return &list->items[i];
	return NULL;
}

static int open_mapping(const char *proc_root, pid_t pid, const struct proc_mapping *mapping)
{
	struct mapped_file file = { .mapping = mapping };
	int fd = proc_open_mapping(proc_root, pid, &file);

	/* No copy of it was made. */
	assert_int_equal(file.origin.path_fd, 0);
	return fd;
}

struct mapped {
	struct scratch scratch;
	char *path;
	void *memory;
	struct proc_map_list maps;
	const struct proc_mapping *mapping;
};

static void mapped_look(struct mapped *mapped)
{
	proc_map_list_free(&mapped->maps);
	assert_int_equal(proc_read_maps("/proc", getpid(), &mapped->maps), 0);
	mapped->mapping = mapping_at(&mapped->maps, (uintptr_t)mapped->memory);
	assert_non_null(mapped->mapping);
}

static struct mapped mapped_make(const char *name)
{
	struct mapped mapped = { .scratch = scratch_make() };
	int fd;

	mapped.path = scratch_file(&mapped.scratch, name, CONTENT, strlen(CONTENT), 0644);
	fd = open(mapped.path, O_RDONLY | O_CLOEXEC);
	mapped.memory = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(mapped.memory != MAP_FAILED);
	close(fd);
	mapped_look(&mapped);
	return mapped;
}

static void mapped_free(struct mapped *mapped)
{
	munmap(mapped->memory, 4096);
	proc_map_list_free(&mapped->maps);
	free(mapped->path);
	scratch_remove(&mapped->scratch);
}

/* A /proc without map_files in which the process's root is `root`; free with free(). */
static char *proc_without_map_files(const struct mapped *mapped, const char *root)
{
	char *proc = scratch_path(&mapped->scratch, "proc");

	assert_int_equal(scratch_run("mkdir -p '%s/%d' && ln -sfn '%s' '%s/%d/root'", proc,
				     (int)getpid(), root, proc, (int)getpid()),
			 0);
	return proc;
}

static void assert_opens(const char *proc_root, const struct proc_mapping *mapping)
{
	char bytes[256] = "";
	int fd = open_mapping(proc_root, getpid(), mapping);

	assert_true(fd >= 0);
	assert_int_equal(read(fd, bytes, sizeof(bytes)), strlen(CONTENT));
	assert_string_equal(bytes, CONTENT);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
}

static bool may_use_map_files(const struct proc_mapping *mapping)
{
	char *path = memory_format("/proc/self/map_files/%lx-%lx", (unsigned long)mapping->start,
				   (unsigned long)mapping->end);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	free(path);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static const char *const awkward_names[] = { "plain",	    "two  blanks",	    "new\nline",
					     "x (deleted)", "back\\101slash",	    "\xff\xfe",
					     " (deleted)",  "x (deleted) (deleted)" };
#define AWKWARD_NAMES (sizeof(awkward_names) / sizeof(awkward_names[0]))

static void test_open_by_name(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < AWKWARD_NAMES; i++) {
		struct mapped mapped = mapped_make(awkward_names[i]);
		char *proc = proc_without_map_files(&mapped, "/");

		assert_opens("/proc", mapped.mapping);
		assert_opens(proc, mapped.mapping);
		free(proc);
		mapped_free(&mapped);
	}
}

static void test_open_deleted(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < AWKWARD_NAMES; i++) {
		struct mapped mapped = mapped_make(awkward_names[i]);
		char *proc = proc_without_map_files(&mapped, "/");

		assert_int_equal(unlink(mapped.path), 0);
		mapped_look(&mapped);
		assert_true(mapped.mapping->deleted);
		assert_string_equal(mapped.mapping->path, mapped.path);
		assert_int_equal(open_mapping(proc, getpid(), mapped.mapping), -ENOENT);
		if (may_use_map_files(mapped.mapping))
			assert_opens("/proc", mapped.mapping);
		free(proc);
		mapped_free(&mapped);
	}
}

/* Another file under the name, and one under the name that /proc shows: neither may be taken. */
static void test_open_replaced(void **state)
{
	struct mapped mapped = mapped_make("library.so");
	char *proc = proc_without_map_files(&mapped, "/");

	(void)state;
	assert_int_equal(unlink(mapped.path), 0);
	free(scratch_file(&mapped.scratch, "library.so", "another", 7, 0644));
	free(scratch_file(&mapped.scratch, "library.so (deleted)", "a third", 7, 0644));
	mapped_look(&mapped);
	assert_true(mapped.mapping->deleted);
	assert_int_equal(open_mapping(proc, getpid(), mapped.mapping), -ESTALE);
	if (may_use_map_files(mapped.mapping))
		assert_opens("/proc", mapped.mapping);
	free(proc);
	mapped_free(&mapped);
}

/* A mapping that has been replaced since /proc was read leads to another file by map_files. */
static void test_open_remapped(void **state)
{
	struct mapped mapped = mapped_make("library.so");
	char *other = scratch_file(&mapped.scratch, "other", "another", 7, 0644);
	int fd = open(other, O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_true(mmap(mapped.memory, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) ==
		    mapped.memory);
	close(fd);
	assert_opens("/proc", mapped.mapping);
	assert_int_equal(unlink(mapped.path), 0);
	assert_true(open_mapping("/proc", getpid(), mapped.mapping) < 0);
	free(other);
	mapped_free(&mapped);
}

static void test_open_not_regular(void **state)
{
	struct mapped mapped = mapped_make("library.so");
	char *proc = proc_without_map_files(&mapped, "/");
	struct proc_mapping heap = { .path = (char *)"[heap]" };

	(void)state;
	assert_int_equal(unlink(mapped.path), 0);
	assert_int_equal(mkfifo(mapped.path, 0644), 0);
	assert_int_equal(open_mapping(proc, getpid(), mapped.mapping), -EACCES);
	assert_int_equal(open_mapping("/proc", getpid(), &heap), -ENOENT);
	free(proc);
	mapped_free(&mapped);
}

/* The process sees the file elsewhere than the tracer, behind an absolute link that counts from its own root. */
static void test_open_in_root(void **state)
{
	struct mapped mapped = mapped_make("file");
	char *proc = proc_without_map_files(&mapped, mapped.scratch.path);
	struct proc_mapping inner = *mapped.mapping;

	(void)state;
	inner.path = (char *)"/file";
	assert_opens(proc, &inner);
	assert_int_equal(scratch_run("ln -s /file '%s/link'", mapped.scratch.path), 0);
	inner.path = (char *)"/link";
	assert_opens(proc, &inner);
	/* The kernel shows a process in a chroot by the path from the reader's root. */
	assert_opens(proc, mapped.mapping);
	free(proc);
	mapped_free(&mapped);
}

static size_t own_mappings(void)
{
	struct proc_map_list list;
	size_t count;

	assert_int_equal(proc_read_maps("/proc", 0, &list), 0);
	count = list.count;
	proc_map_list_free(&list);
	return count;
}

/* A file of huge pages, which any process may map: nothing of it must stay mapped here. */
static void test_open_huge(void **state)
{
	struct mapped mapped = { 0 };
	int fd = memfd_create("huge", MFD_HUGETLB | MFD_CLOEXEC), opened;
	size_t before, i;
	struct stat status;

	(void)state;
	if (fd < 0)
		skip();
	assert_int_equal(fstat(fd, &status), 0);
	mapped.memory = mmap(NULL, (size_t)status.st_blksize, PROT_READ | PROT_EXEC,
			     MAP_PRIVATE | MAP_NORESERVE, fd, 0);
	assert_true(mapped.memory != MAP_FAILED);
	mapped_look(&mapped);
	before = own_mappings();
	for (i = 0; i < 20; i++) {
		opened = open_mapping("/proc", getpid(), mapped.mapping);
		if (opened >= 0)
			close(opened);
	}
	/* The allocator may have mapped a little more by now. */
	assert_in_range(own_mappings(), before - 5, before + 5);
	munmap(mapped.memory, (size_t)status.st_blksize);
	proc_map_list_free(&mapped.maps);
	close(fd);
}

struct mount_test {
	char folder[64];
	int ready[2];
};

/* In a mount namespace of its own: a file system over `folder`, a file in it, mapped. Ends when it is killed. */
static int namespace_main(const struct mount_test *test)
{
	char path[128];
	void *memory;
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", test->folder, "tmpfs", MS_NOSUID, NULL))
		return 2;
	snprintf(path, sizeof(path), "%s/library.so", test->folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, CONTENT, strlen(CONTENT)) != (ssize_t)strlen(CONTENT))
		return 3;
	memory = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (memory == MAP_FAILED || write(test->ready[1], &memory, sizeof(memory)) < 0)
		return 3;
	pause();
	return 0;
}

static const struct proc_mapping *mapping_of(struct proc_map_list *maps, pid_t pid, void *memory)
{
	proc_map_list_free(maps);
	assert_int_equal(proc_read_maps("/proc", pid, maps), 0);
	return mapping_at(maps, (uintptr_t)memory);
}

/* A view of /proc that leads to a process's root but has no map_files; free with free(). */
static char *proc_with_root_only(const struct scratch *scratch, pid_t pid)
{
	char *proc = scratch_path(scratch, "proc");

	assert_int_equal(scratch_run("mkdir -p '%s/%d' && ln -s /proc/%d/root '%s/%d/root'", proc,
				     (int)pid, (int)pid, proc, (int)pid),
			 0);
	return proc;
}

static void assert_content(int fd)
{
	char bytes[64] = "";

	assert_true(fd >= 0);
	assert_int_equal(read(fd, bytes, sizeof(bytes)), strlen(CONTENT));
	assert_string_equal(bytes, CONTENT);
	close(fd);
}

static void check_namespace(const struct scratch *scratch, pid_t pid, void *memory)
{
	struct proc_map_list maps = { 0 };
	const struct proc_mapping *mapping = mapping_of(&maps, pid, memory);
	char *proc = proc_with_root_only(scratch, pid), *inside;

	/* By map_files, then by name: the tracer's file of that name is another one. */
	assert_string_equal(strrchr(mapping->path, '/'), "/library.so");
	assert_content(open_mapping("/proc", pid, mapping));
	assert_content(open_mapping(proc, pid, mapping));
	/* Replaced by a file with the same name, in the namespace: only map_files leads to the old one. */
	inside = memory_format("/proc/%d/root%s", (int)pid, mapping->path);
	assert_int_equal(
		scratch_run("cp '%s' '%s.new' && mv '%s.new' '%s'", inside, inside, inside, inside),
		0);
	mapping = mapping_of(&maps, pid, memory);
	assert_true(mapping->deleted);
	assert_content(open_mapping("/proc", pid, mapping));
	assert_true(open_mapping(proc, pid, mapping) < 0);
	free(inside);
	free(proc);
	proc_map_list_free(&maps);
}

static void test_open_in_namespace(void **state)
{
	struct scratch scratch = scratch_make();
	struct mount_test test = { 0 };
	void *memory = NULL;
	pid_t pid;
	ssize_t got;
	int status = 0;

	(void)state;
	snprintf(test.folder, sizeof(test.folder), "%s", scratch.path);
	assert_int_equal(pipe2(test.ready, O_CLOEXEC), 0);
	free(scratch_file(&scratch, "library.so", "another", 7, 0644));
	pid = fork();
	if (pid == 0)
		_exit(namespace_main(&test));
	close(test.ready[1]);
	got = read(test.ready[0], &memory, sizeof(memory));
	close(test.ready[0]);
	if (got == sizeof(memory))
		check_namespace(&scratch, pid, memory);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	scratch_remove(&scratch);
	/* Without the rights to mount this cannot be set up. */
	if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
		skip();
	assert_int_equal(got, sizeof(memory));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open_by_name),	 cmocka_unit_test(test_open_deleted),
		cmocka_unit_test(test_open_replaced),	 cmocka_unit_test(test_open_remapped),
		cmocka_unit_test(test_open_not_regular), cmocka_unit_test(test_open_in_root),
		cmocka_unit_test(test_open_huge),	 cmocka_unit_test(test_open_in_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
