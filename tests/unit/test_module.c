/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of modules: their indexes, look-up by file, files that are closed and opened again. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <cmocka.h>

#include "base/memory.h"
#include "discover/module_finder.h"
#include "model/module.h"
#include "model/snapshot.h"
#include "scratch.h"

static struct module *new_module(const char *path, uint64_t device, uint64_t inode, int fd)
{
	struct module *module = memory_alloc(1, sizeof(*module));

	module->path = memory_copy_string(path);
	module->device = device;
	module->inode = inode;
	module->fd = fd;
	return module;
}

static void test_find(void **state)
{
	struct module_list list = { 0 };
	char path[32];
	uint32_t i;

	(void)state;
	assert_int_equal(module_list_find(&list, 1, 2, "/a"), MODULE_NONE);
	for (i = 0; i < 300; i++) {
		snprintf(path, sizeof(path), "/lib/%u.so", i / 3);
		assert_int_equal(module_list_add(&list, new_module(path, i % 3, i / 3, -1)), i);
	}
	for (i = 0; i < 300; i++) {
		snprintf(path, sizeof(path), "/lib/%u.so", i / 3);
		assert_int_equal(module_list_find(&list, i % 3, i / 3, path), i);
		assert_string_equal(module_list_get(&list, i)->path, path);
	}
	assert_int_equal(module_list_find(&list, 3, 1, "/lib/1.so"), MODULE_NONE);
	assert_int_equal(module_list_find(&list, 1, 2, "/lib/1.so"), MODULE_NONE);
	assert_int_equal(module_list_find(&list, 1, 1, "/lib/2.so"), MODULE_NONE);
	assert_null(module_list_get(&list, 300));
	assert_null(module_list_get(&list, MODULE_NONE));
	module_list_free(&list);
	assert_int_equal(list.count, 0);
	module_list_free(NULL);
}

static void test_free_closes_files(void **state)
{
	struct module_list list = { 0 };
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	module_list_add(&list, new_module("/a", 1, 2, fd));
	module_list_add(&list, new_module(NULL, 1, 2, -1));
	assert_int_equal(module_list_find(&list, 1, 2, "/b"), MODULE_NONE);
	module_list_free(&list);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_int_equal(errno, EBADF);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) != -1;
}

/* A module that is closed is found by its content only; one that is removed leaves its index to others. */
static void test_close_and_remove(void **state)
{
	const struct module_stamp stamp = { 10, 20, 30 }, later = { 10, 20, 31 };
	struct module_list list = { 0 };
	struct module *module;
	int fds[3], i;

	(void)state;
	for (i = 0; i < 3; i++) {
		fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		module = new_module("/a", 1, (uint64_t)i, fds[i]);
		module->stamp = stamp;
		assert_int_equal(module_list_add(&list, module), i);
		assert_int_equal(module->number, i);
	}
	assert_int_equal(list.open, 3);
	module_list_close(&list, 1);
	assert_int_equal(list.open, 2);
	assert_true(is_open(fds[0]) && !is_open(fds[1]) && is_open(fds[2]));
	assert_string_equal(module_list_get(&list, 1)->path, "/a");
	assert_int_equal(module_list_find(&list, 1, 1, "/a"), MODULE_NONE);
	assert_int_equal(module_list_find_closed(&list, 1, 1, "/a", &later), MODULE_NONE);
	assert_int_equal(module_list_find_closed(&list, 1, 0, "/a", &stamp), MODULE_NONE);
	assert_int_equal(module_list_find_closed(&list, 1, 1, "/a", &stamp), 1);
	module_list_open(&list, 1, open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
	assert_int_equal(module_list_find(&list, 1, 1, "/a"), 1);
	assert_int_equal(list.open, 3);
	module_list_remove(&list, 1);
	module_list_remove(&list, 0);
	assert_false(is_open(fds[0]));
	assert_int_equal(list.open, 1);
	assert_null(module_list_get(&list, 0));
	assert_null(module_list_get(&list, 1));
	assert_int_equal(module_list_find(&list, 1, 0, "/a"), MODULE_NONE);
	assert_int_equal(module_list_add(&list, new_module("/b", 1, 7, -1)), 0);
	assert_int_equal(module_list_get(&list, 0)->number, 3);
	assert_int_equal(module_list_add(&list, new_module("/b", 1, 8, -1)), 1);
	assert_int_equal(module_list_add(&list, new_module("/b", 1, 9, -1)), 3);
	assert_int_equal(list.open, 1);
	module_list_free(&list);
	assert_false(is_open(fds[2]));
}

/* A copy of the list has no descriptors: none is closed with it, be it of a file or of the file behind a copy. */
static void test_copy_has_no_descriptors(void **state)
{
	struct module_list list = { 0 }, *copy;
	struct module *module = new_module("/a", 1, 7, open("/dev/null", O_RDONLY | O_CLOEXEC));
	int fd = module->fd, path_fd = open("/", O_PATH | O_CLOEXEC);

	(void)state;
	module->path_fd = path_fd;
	module_list_add(&list, module);
	copy = module_list_copy(&list);
	assert_true(module_probe_fd(copy->items[0]) < 0);
	module_list_free(copy);
	free(copy);
	assert_true(is_open(fd) && is_open(path_fd));
	assert_int_equal(module_probe_fd(module), path_fd);
	module_list_free(&list);
	assert_false(is_open(fd) || is_open(path_fd));
}

/* A file that is mapped again is the module that it was, if nobody has written another one in its place. */
static void test_found_again(void **state)
{
	struct scratch scratch = scratch_make();
	char *path = scratch_file(&scratch, "file", "1", 1, 0644);
	struct module_list list = { 0 };
	uint32_t module = module_find_path(&list, getpid(), path);

	(void)state;
	assert_int_equal(module, 0);
	assert_int_equal(module_find_path(&list, getpid(), path), 0);
	module_list_close(&list, 0);
	assert_int_equal(module_find_path(&list, getpid(), path), 0);
	assert_true(module_list_get(&list, 0)->fd >= 0);
	module_list_close(&list, 0);
	/* The same inode, as when its number is given to another file. */
	assert_int_equal(scratch_run("sleep 0.02; echo 2 >'%s'", path), 0);
	assert_int_equal(module_find_path(&list, getpid(), path), 1);
	assert_int_equal(module_list_get(&list, 0)->fd, -1);
	module_list_free(&list);
	free(path);
	scratch_remove(&scratch);
}

static struct proc_mapping own_mapping(struct proc_map_list *maps)
{
	size_t i;

	assert_int_equal(proc_read_maps("/proc", getpid(), maps), 0);
	for (i = 0; i < maps->count; i++)
		if (maps->items[i].inode && maps->items[i].executable)
			return maps->items[i];
	fail_msg("no file is mapped");
	return maps->items[0];
}

/* Too many open files: the module has no file, and gets it when there are descriptors again. */
static void test_no_descriptors(void **state)
{
	struct module_list list = { 0 };
	struct proc_map_list maps;
	struct proc_mapping mapping = own_mapping(&maps);
	struct rlimit limit, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){ 0, limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(module_find_mapping(&list, getpid(), &mapping), 0);
	assert_int_equal(module_find_mapping(&list, getpid(), &mapping), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(module_list_get(&list, 0)->fd, -1);
	assert_int_equal(list.no_fd, 1);
	assert_int_equal(list.open, 0);
	assert_int_equal(module_find_mapping(&list, getpid(), &mapping), 0);
	assert_true(module_list_get(&list, 0)->fd >= 0);
	assert_int_equal(list.no_fd, 0);
	assert_int_equal(list.open, 1);
	/* Another reason is no want of descriptors. */
	mapping.inode++;
	assert_int_equal(module_find_mapping(&list, getpid(), &mapping), 1);
	assert_int_equal(module_list_get(&list, 1)->fd, -1);
	assert_int_equal(list.no_fd, 0);
	module_list_free(&list);
	proc_map_list_free(&maps);
}

/* What was not mapped any more when it should be opened is opened where it is mapped again, or later. */
static void test_unmapped(void **state)
{
	struct module_list list = { 0 };
	struct proc_map_list maps;
	struct proc_mapping mapping = own_mapping(&maps), gone;
	char name[] = "/nonexistent";

	(void)state;
	gone = mapping;
	gone.start += 1ull << 12;
	gone.path = mapping.path = name;
	assert_int_equal(module_find_mapping(&list, getpid(), &gone), 0);
	assert_int_equal(module_list_get(&list, 0)->fd, -1);
	assert_true(module_list_get(&list, 0)->unmapped);
	assert_int_equal(list.no_fd, 0);
	assert_int_equal(list.open, 0);
	assert_int_equal(module_find_mapping(&list, getpid(), &mapping), 0);
	assert_true(module_list_get(&list, 0)->fd >= 0);
	assert_false(module_list_get(&list, 0)->unmapped);
	assert_int_equal(list.open, 1);
	/* Another file is mapped there by now. */
	mapping.inode++;
	assert_int_equal(module_find_mapping(&list, getpid(), &mapping), 1);
	assert_int_equal(module_list_get(&list, 1)->fd, -1);
	assert_true(module_list_get(&list, 1)->unmapped);
	/* Of another device it may be the same file. */
	mapping.device++;
	assert_int_equal(module_find_mapping(&list, getpid(), &mapping), 2);
	assert_int_equal(module_list_get(&list, 2)->fd, -1);
	assert_false(module_list_get(&list, 2)->unmapped);
	module_list_free(&list);
	proc_map_list_free(&maps);
}

/* Mapped again when there is no descriptor: it is opened as soon as there is one. */
static void test_unmapped_without_descriptors(void **state)
{
	struct module_list list = { 0 };
	struct proc_map_list maps;
	struct proc_mapping mapping = own_mapping(&maps), gone;
	struct rlimit limit, none;
	char name[] = "/nonexistent";

	(void)state;
	gone = mapping;
	gone.start += 1ull << 12;
	gone.path = mapping.path = name;
	assert_int_equal(module_find_mapping(&list, getpid(), &gone), 0);
	assert_int_equal(list.no_fd, 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){ 0, limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(module_find_mapping(&list, getpid(), &mapping), 0);
	assert_int_equal(module_find_mapping(&list, getpid(), &mapping), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(list.no_fd, 1);
	assert_int_equal(list.no_fd_ever, 1);
	assert_int_equal(module_find_mapping(&list, getpid(), &mapping), 0);
	assert_true(module_list_get(&list, 0)->fd >= 0);
	assert_int_equal(list.no_fd, 0);
	/* None is left for it. */
	gone.inode++;
	assert_int_equal(module_find_mapping(&list, getpid(), &gone), 1);
	list.limit = 1;
	assert_int_equal(module_find_mapping(&list, getpid(), &gone), 1);
	assert_true(module_list_get(&list, 1)->no_fd);
	assert_int_equal(list.no_fd, 1);
	module_list_free(&list);
	proc_map_list_free(&maps);
}

static void test_build_id(void **state)
{
	struct module module = { .build_id_size = 4, .build_id = { 0x00, 0x0f, 0xa0, 0xff } };
	char text[2 * BUILD_ID_MAX + 1];

	(void)state;
	assert_string_equal(module_format_build_id(&module, text), "000fa0ff");
	module.build_id_size = 0;
	assert_string_equal(module_format_build_id(&module, text), "");
	module.build_id_size = SIZE_MAX;
	assert_int_equal(strlen(module_format_build_id(&module, text)), 2 * BUILD_ID_MAX);
}

static void test_snapshot_free(void **state)
{
	struct snapshot *snapshot = memory_alloc(1, sizeof(*snapshot));

	(void)state;
	snapshot->sites = memory_alloc(10, sizeof(*snapshot->sites));
	snapshot_free(snapshot);
	snapshot_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_free_closes_files),
		cmocka_unit_test(test_close_and_remove),
		cmocka_unit_test(test_copy_has_no_descriptors),
		cmocka_unit_test(test_found_again),
		cmocka_unit_test(test_no_descriptors),
		cmocka_unit_test(test_unmapped),
		cmocka_unit_test(test_unmapped_without_descriptors),
		cmocka_unit_test(test_build_id),
		cmocka_unit_test(test_snapshot_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
