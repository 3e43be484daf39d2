/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of modules: indexes that stay, look-up by file, and files that are closed at the end. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/memory.h"
#include "model/module.h"
#include "model/snapshot.h"

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
		cmocka_unit_test(test_build_id),
		cmocka_unit_test(test_snapshot_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
