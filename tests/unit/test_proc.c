/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_* on files written by hand after proc(5), with lines that no kernel writes, and on live processes, where the
 * truth is what the test itself did: renamed itself, started a thread.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sysmacros.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "scratch.h"
#include "system/proc.h"

#define DATA "tests/data/proc"

static void test_maps_fixture(void **state)
{
	static const struct {
		uint64_t start, offset, inode;
		const char *flags, *path;
		bool deleted;
	} expected[] = {
		{ 0x5581e0a00000, 0, 131090, "r--p", "/usr/bin/true", false },
		{ 0x5581e0a02000, 0x2000, 131090, "r-xp", "/usr/bin/true", false },
		{ 0x5581e1000000, 0, 0, "rw-p", "[heap]", false },
		{ 0x7f0000000000, 0, 1029, "rw-s", "/memfd:jit", true },
		{ 0x7f0000001000, 0x1000, 7, "r-xp", "/opt/with blank/lib two  blanks.so", false },
		{ 0x7f0000002000, 0, 8, "r--p", "/opt/new\nline.so", true },
		{ 0x7f0000003000, 0, 9, "r--p", "/opt/back\\101slash\\x.so", false },
		{ 0x7f0000004000, 0, 10, "r--p", "/opt/x (deleted)", true },
		{ 0x7f0000005000, 0, 0, "---p", "", false },
		{ 0x7f0000006000, 0, 0, "-w-p", "", false },
		{ 0x7f0000007000, 0, 11, "r--p", "/opt/raw\xff\xfe\x1b[31m.so", false },
		{ 0x7f0000008000, 0, 12, "r--p", "/opt/ (deleted)x", false },
		{ 0xffffffffff600000, 0, 0, "--xp", "[vsyscall]", false },
	};
	struct proc_map_list list;
	size_t i;

	(void)state;
	assert_int_equal(proc_read_maps(DATA, 42, &list), 0);
	assert_int_equal(list.count, sizeof(expected) / sizeof(expected[0]));
	for (i = 0; i < list.count; i++) {
		const struct proc_mapping *mapping = &list.items[i];
		char flags[] = { mapping->readable ? 'r' : '-', mapping->writable ? 'w' : '-',
				 mapping->executable ? 'x' : '-', mapping->shared ? 's' : 'p', 0 };

		assert_int_equal(mapping->start, expected[i].start);
		assert_int_equal(mapping->file_offset, expected[i].offset);
		assert_int_equal(mapping->inode, expected[i].inode);
		assert_string_equal(flags, expected[i].flags);
		assert_string_equal(mapping->path, expected[i].path);
		assert_int_equal(mapping->deleted, expected[i].deleted);
	}
	assert_int_equal(list.items[0].end, 0x5581e0a02000);
	assert_int_equal(list.items[0].device, makedev(0xfe, 1));
	assert_int_equal(list.items[4].device, makedev(8, 16));
	proc_map_list_free(&list);
	assert_int_equal(list.count, 0);
	proc_map_list_free(NULL);
}

/* vm.max_map_count was raised, as databases ask for. */
static void test_maps_many(void **state)
{
	enum { MANY = 300000 };
	char root[] = "/tmp/test_proc_XXXXXX", path[64];
	struct proc_map_list list;
	FILE *file;
	unsigned long long i;

	(void)state;
	assert_non_null(mkdtemp(root));
	snprintf(path, sizeof(path), "%s/42", root);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/42/maps", root);
	file = fopen(path, "w");
	assert_non_null(file);
	for (i = 0; i < MANY; i++)
		fprintf(file, "%llx-%llx rw-p 00000000 00:00 0 \n", i << 13, (i << 13) + 4096);
	fclose(file);
	assert_int_equal(proc_read_maps(root, 42, &list), 0);
	assert_int_equal(list.count, MANY);
	assert_false(list.cut);
	proc_map_list_free(&list);
	unlink(path);
	snprintf(path, sizeof(path), "%s/42", root);
	rmdir(path);
	rmdir(root);
}

static void test_maps_failure(void **state)
{
	struct proc_map_list list = { .count = 77 };

	(void)state;
	assert_int_equal(proc_read_maps(DATA, 44, &list), -ESRCH);
	assert_int_equal(list.count, 77);
	proc_parse_maps("", 0, &list);
	assert_int_equal(list.count, 0);
}

static const struct proc_mapping *mapping_at(const struct proc_map_list *list, uint64_t address)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (address >= list->items[i].start && address < list->items[i].end)
			return &list->items[i];
	return NULL;
}

/* The dynamic loader knows the address of every segment. */
static int check_segments(struct dl_phdr_info *info, size_t size, void *context)
{
	const struct proc_map_list *list = context;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const struct proc_mapping *mapping;

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		mapping = mapping_at(list, info->dlpi_addr + segment->p_vaddr);
		assert_non_null(mapping);
		assert_true(mapping->executable);
		if (info->dlpi_name[0] != '/')
			continue;
		assert_int_equal(mapping->file_offset, segment->p_offset & ~(uint64_t)4095);
		assert_string_equal(strrchr(mapping->path, '/')[1] ? "named" : "", "named");
	}
	return 0;
}

static void test_maps_live(void **state)
{
	struct proc_map_list list;

	(void)state;
	assert_int_equal(proc_read_maps("/proc", getpid(), &list), 0);
	dl_iterate_phdr(check_segments, &list);
	/* Not a variable's address: the sanitizer may keep variables elsewhere. */
	assert_string_equal(mapping_at(&list, (uintptr_t)__builtin_frame_address(0))->path,
			    "[stack]");
	proc_map_list_free(&list);
}

/* A file of the scratch folder, mapped into this process. */
static void test_status_fixture(void **state)
{
	struct proc_status status;

	(void)state;
	assert_int_equal(proc_read_status(DATA, 42, &status), 0);
	assert_string_equal(status.comm, "a\nb\\c) 7");
	assert_int_equal(status.pid, 42);
	assert_int_equal(status.namespace_pid, 1);
	assert_int_equal(status.parent_pid, 1);
	assert_int_equal(status.state, 'S');
	assert_int_equal(status.uid, 1001);
	assert_int_equal(status.seccomp, 2);
	assert_int_equal(status.tracer_pid, 17);
	assert_int_equal(status.rss_bytes, 5678 * 1024);
	assert_int_equal(status.table_bytes, 204 * 1024);
	assert_int_equal(status.swap_bytes, 96 * 1024);
	assert_int_equal(status.threads, 3);
}

static void test_status_hostile(void **state)
{
	static const struct proc_status empty;
	struct proc_status status;

	(void)state;
	assert_int_equal(proc_read_status(DATA, 43, &status), 0);
	/* Of "NSpid: 1 x 9", the numbers end at the x. */
	assert_int_equal(status.namespace_pid, 1);
	status.namespace_pid = 0;
	assert_memory_equal(&status, &empty, sizeof(status));
	assert_int_equal(proc_read_status(DATA, 44, &status), -ESRCH);
	proc_parse_status("Name:\t01234567890123456789", 26, &status);
	assert_string_equal(status.comm, "012345678901234");
	proc_parse_status("Name:\tx\\", 8, &status);
	assert_string_equal(status.comm, "x\\");
}

static bool parse_pss(const char *text, uint64_t *ret_bytes)
{
	/* Without a NUL behind it: the sanitizer sees a read beyond the end. */
	size_t size = strlen(text);
	char *bytes = memcpy(malloc(size), text, size);
	bool found = proc_parse_pss(bytes, size, ret_bytes);

	free(bytes);
	return found;
}

static void test_pss(void **state)
{
	struct call_patience patience = { 0 };
	struct proc_status status;
	uint64_t bytes = 7;

	(void)state;
	assert_false(parse_pss("Rss:  12 kB\nPss_Dirty: 3 kB\nPss", &bytes));
	assert_false(parse_pss("Pss:", &bytes));
	assert_false(parse_pss("Pss: x\nPss: 5 kB\n", &bytes));
	assert_false(parse_pss("Pss: 99999999999999999 kB\n", &bytes));
	assert_int_equal(bytes, 7);
	assert_true(parse_pss(
		"0-1 ---p 0 00:00 0 [rollup]\nRss:  12 kB\nPss:   \t 345 kB\nPss: 1 kB\n", &bytes));
	assert_int_equal(bytes, 345 * 1024);
	assert_true(parse_pss("Pss: 2", &bytes));
	assert_int_equal(bytes, 2048);
	assert_int_equal(proc_read_pss_within(getpid(), &patience, &bytes), 0);
	assert_int_equal(proc_read_status("/proc", getpid(), &status), 0);
	/* Of what this process has, nothing is shared with more than a few. */
	assert_in_range(bytes, status.rss_bytes / 8, status.rss_bytes * 2);
	assert_int_equal(proc_read_pss_within(INT_MAX, &patience, &bytes), -ESRCH);
}

static void *thread_wait(void *gate)
{
	pthread_mutex_lock(gate);
	pthread_mutex_unlock(gate);
	return NULL;
}

static void test_status_live(void **state)
{
	pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	struct proc_status before, status;
	char old[16];
	pthread_t thread;

	(void)state;
	assert_int_equal(prctl(PR_GET_NAME, old), 0);
	assert_int_equal(proc_read_status("/proc", getpid(), &before), 0);
	pthread_mutex_lock(&gate);
	assert_int_equal(pthread_create(&thread, NULL, thread_wait, &gate), 0);
	assert_int_equal(prctl(PR_SET_NAME, "a\nb\\n:\t) x"), 0);
	assert_int_equal(proc_read_status("/proc", getpid(), &status), 0);
	assert_int_equal(prctl(PR_SET_NAME, old), 0);
	pthread_mutex_unlock(&gate);
	pthread_join(thread, NULL);
	assert_string_equal(status.comm, "a\nb\\n:\t) x");
	assert_int_equal(status.pid, getpid());
	assert_int_equal(status.namespace_pid, getpid());
	assert_int_equal(status.parent_pid, getppid());
	assert_int_equal(status.uid, geteuid());
	assert_int_equal(status.state, 'R');
	assert_int_equal(status.threads, before.threads + 1);
	assert_int_equal(status.seccomp, prctl(PR_GET_SECCOMP));
	assert_true(status.rss_bytes > 0);
}

static void test_start_time(void **state)
{
	uint64_t ticks = 5, renamed;
	char old[16];

	(void)state;
	assert_int_equal(proc_read_start_time(DATA, 43, &ticks), -EPROTO);
	assert_int_equal(proc_read_start_time(DATA, 44, &ticks), -ESRCH);
	assert_int_equal(ticks, 5);
	assert_int_equal(proc_read_start_time(DATA, 42, &ticks), 0);
	assert_int_equal(ticks, 987654321);
	assert_int_equal(proc_read_start_time("/proc", getpid(), &ticks), 0);
	assert_int_equal(prctl(PR_GET_NAME, old), 0);
	assert_int_equal(prctl(PR_SET_NAME, ") R 1 (2 3 4"), 0);
	assert_int_equal(proc_read_start_time("/proc", getpid(), &renamed), 0);
	assert_int_equal(prctl(PR_SET_NAME, old), 0);
	assert_true(ticks > 0 && renamed == ticks);
}

/* The truth is what this process opens and closes. */
static void test_count_files(void **state)
{
	uint64_t before = 0, more = 0, other = 7;
	int fds[3], i;

	(void)state;
	assert_int_equal(proc_count_files("/proc", getpid(), &before), 0);
	assert_true(before >= 3);
	for (i = 0; i < 3; i++)
		fds[i] = dup(STDOUT_FILENO);
	assert_int_equal(proc_count_files("/proc", getpid(), &more), 0);
	assert_int_equal(more, before + 3);
	for (i = 0; i < 3; i++)
		close(fds[i]);
	assert_int_equal(proc_count_files("/proc", getpid(), &more), 0);
	assert_int_equal(more, before);
	assert_int_equal(proc_count_files(DATA, 44, &other), -ESRCH);
	assert_int_equal(other, 7);
}

/* The truth is the environment of this very process: the kernel's addresses lead to its first variable. */
static void test_environment_range(void **state)
{
	extern char **environ;
	uint64_t start = 5, end = 6;

	(void)state;
	assert_int_equal(proc_read_environment_range(DATA, 44, &start, &end), -ESRCH);
	assert_int_equal(proc_read_environment_range(DATA, 43, &start, &end), -EPROTO);
	assert_int_equal(start, 5);
	assert_int_equal(end, 6);
	assert_int_equal(proc_read_environment_range("/proc", getpid(), &start, &end), 0);
	assert_true(environ[0] && start == (uintptr_t)environ[0]);
	assert_true(end > start + strlen(environ[0]));
}

/* A program of the scratch folder that sleeps; what /proc says of its file before and after the deletion. */
static void check_exe(const char *name)
{
	struct scratch scratch = scratch_make();
	char *path = scratch_path(&scratch, name), *exe;
	int ready[2];
	pid_t pid;

	assert_int_equal(scratch_run("cp /bin/sleep '%s'", path), 0);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		execl(path, "sleep", "100", (char *)NULL);
		_exit(1);
	}
	close(ready[1]);
	/* The end of the pipe means that the exec is over. */
	assert_int_equal(read(ready[0], &(char){ 0 }, 1), 0);
	close(ready[0]);
	exe = proc_read_exe("/proc", pid);
	assert_string_equal(exe, path);
	free(exe);
	assert_int_equal(unlink(path), 0);
	exe = proc_read_exe("/proc", pid);
	assert_string_equal(exe, path);
	free(exe);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	free(path);
	scratch_remove(&scratch);
}

static void test_exe(void **state)
{
	(void)state;
	check_exe("program");
	check_exe("program (deleted)");
	check_exe("new\nline");
	assert_null(proc_read_exe(DATA, 44));
}

/* What a process in `directory` sees, with `root` as its root directory unless that is NULL; and after the removal. */
static void check_place(const char *directory, const char *root, const char *expected)
{
	struct proc_place place;
	int ready[2];
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		if (chdir(directory) || (root && chroot(root)) || write(ready[1], "", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(ready[0], &(char){ 0 }, 1), 1);
	proc_read_place("/proc", pid, &place);
	assert_string_equal(place.directory, expected);
	if (root)
		assert_string_equal(place.root, root);
	else
		assert_null(place.root);
	assert_true(place.mount_namespace);
	proc_place_free(&place);
	assert_int_equal(rmdir(directory), 0);
	proc_read_place("/proc", pid, &place);
	assert_string_equal(place.directory, expected);
	proc_place_free(&place);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(ready[0]);
	close(ready[1]);
}

static void test_place(void **state)
{
	static const char *const names[] = { "app", "app (deleted)", "new\nline \xff\x1b[1m" };
	struct scratch scratch = scratch_make();
	struct proc_place place;
	char *root, *path;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		path = scratch_path(&scratch, names[i]);
		assert_int_equal(mkdir(path, 0755), 0);
		check_place(path, NULL, path);
		free(path);
	}
	if (!geteuid()) {
		root = scratch_path(&scratch, "");
		root[strlen(root) - 1] = '\0';
		path = scratch_path(&scratch, "app");
		assert_int_equal(mkdir(path, 0755), 0);
		check_place(path, root, "/app");
		free(path);
		free(root);
	}
	proc_read_place(DATA, 44, &place);
	assert_null(place.directory);
	assert_int_equal(place.mount_namespace, 0);
	proc_place_free(&place);
	scratch_remove(&scratch);
}

/* A process that has ended and is not waited for has no memory any more. */
static void test_memory(void **state)
{
	siginfo_t ended;
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		pause();
		_exit(0);
	}
	assert_true(proc_has_memory("/proc", pid));
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
	assert_false(proc_has_memory("/proc", pid));
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(proc_has_memory("/proc", pid));
}

/* What is executable, and nothing else. */
static void test_maps_of_code(void **state)
{
	struct proc_map_list all, code;
	struct call_patience patience = { 0 };
	size_t i, at = 0;

	(void)state;
	assert_int_equal(proc_read_maps_within(getppid(), true, &patience, &code), 0);
	assert_int_equal(proc_read_maps("/proc", getppid(), &all), 0);
	assert_true(code.count > 0 && code.count < all.count && !code.cut);
	for (i = 0; i < all.count; i++) {
		if (!all.items[i].executable)
			continue;
		assert_true(at < code.count);
		assert_int_equal(code.items[at].start, all.items[i].start);
		assert_int_equal(code.items[at].inode, all.items[i].inode);
		assert_string_equal(code.items[at++].path, all.items[i].path);
	}
	assert_int_equal(at, code.count);
	proc_map_list_free(&code);
	proc_map_list_free(&all);
	assert_int_equal(proc_read_maps_within(0x7fffffff, true, &patience, &all), -ESRCH);
	assert_int_equal(patience.late, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_maps_of_code),
		cmocka_unit_test(test_maps_fixture),
		cmocka_unit_test(test_maps_many),
		cmocka_unit_test(test_maps_failure),
		cmocka_unit_test(test_maps_live),
		cmocka_unit_test(test_status_fixture),
		cmocka_unit_test(test_status_hostile),
		cmocka_unit_test(test_status_live),
		cmocka_unit_test(test_pss),
		cmocka_unit_test(test_start_time),
		cmocka_unit_test(test_count_files),
		cmocka_unit_test(test_environment_range),
		cmocka_unit_test(test_exe),
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
