/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Users by name, as files say, and by number. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/memory.h"
#include "scratch.h"
#include "system/user.h"

static const char passwd[] = "root:x:0:0:root:/root:/bin/sh\n"
			     "no line\n"
			     "daemon:x:1:1::/:/bin/false\n"
			     "jo:x:1000:1001:Jo,,,:/home/jo:/bin/sh\n";
static const char group[] = "root:x:0:\n"
			    "jo:x:1001:\n"
			    "adm:x:4:daemon,jo\n"
			    "video:x:44:johanna\n"
			    "audio:x:29:jo\n";

static struct scratch make(void)
{
	struct scratch scratch = scratch_make();

	free(scratch_file(&scratch, "passwd", passwd, sizeof(passwd) - 1, 0644));
	free(scratch_file(&scratch, "group", group, sizeof(group) - 1, 0644));
	return scratch;
}

static void test_names(void **state)
{
	struct scratch scratch = make();
	struct error error = { 0 };
	struct user user;

	(void)state;
	assert_int_equal(user_find(scratch.path, "jo", &user, &error), 0);
	assert_int_equal(user.uid, 1000);
	assert_int_equal(user.gid, 1001);
	assert_int_equal(user.group_count, 3);
	assert_int_equal(user.groups[0], 1001);
	assert_int_equal(user.groups[1], 4);
	assert_int_equal(user.groups[2], 29);
	user_free(&user);
	assert_int_equal(user_find(scratch.path, "root", &user, &error), 0);
	assert_int_equal(user.uid, 0);
	assert_int_equal(user.group_count, 1);
	user_free(&user);
	user_free(&user);
	scratch_remove(&scratch);
}

static void test_numbers(void **state)
{
	struct error error = { 0 };
	struct user user;

	(void)state;
	assert_int_equal(user_find("/none", "1000:4294967294", &user, &error), 0);
	assert_int_equal(user.uid, 1000);
	assert_true(user.gid == 4294967294u);
	assert_int_equal(user.group_count, 1);
	assert_true(user.groups[0] == 4294967294u);
	user_free(&user);
}

static void test_none(void **state)
{
	static const char *const names[] = { "jo2", "j", "1000", "1000:", ":1", "1000:4294967295",
					     "-1:0" };
	struct scratch scratch = make();
	struct user user = { .uid = 77 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct error error = { 0 };

		assert_int_equal(user_find(scratch.path, names[i], &user, &error), -ENOENT);
		assert_int_equal(error.kind, ERROR_USAGE);
		assert_non_null(strstr(error.text, names[i]));
		assert_int_equal(user.uid, 77);
	}
	scratch_remove(&scratch);
}

/* A missing file is named, and is no missing user. */
static void check_unread(const char *etc, const char *file)
{
	struct error error = { 0 };
	char *path = memory_format("%s/%s: No such file or directory", etc, file);
	struct user user;

	assert_int_equal(user_find(etc, "jo", &user, &error), -ENOENT);
	assert_int_equal(error.kind, ERROR_USAGE);
	assert_non_null(strstr(error.text, path));
	assert_non_null(strstr(error.text, "UID:GID"));
	assert_null(strstr(error.text, "there is no user"));
	free(path);
}

static void test_no_files(void **state)
{
	struct scratch scratch = make();
	struct error error = { 0 };
	uid_t uid;

	(void)state;
	assert_int_equal(scratch_run("rm '%s/group'", scratch.path), 0);
	check_unread(scratch.path, "group");
	assert_int_equal(scratch_run("rm '%s/passwd'", scratch.path), 0);
	check_unread(scratch.path, "passwd");
	assert_int_equal(user_find_id(scratch.path, "jo", &uid, &error), -ENOENT);
	assert_non_null(strstr(error.text, "/passwd: No such file or directory"));
	scratch_remove(&scratch);
}

static void test_ids(void **state)
{
	struct scratch scratch = make();
	struct error error = { 0 };
	uid_t uid = 7;

	(void)state;
	/* Groups make no difference. */
	assert_int_equal(scratch_run("rm '%s/group'", scratch.path), 0);
	assert_int_equal(user_find_id(scratch.path, "jo", &uid, &error), 0);
	assert_int_equal(uid, 1000);
	assert_int_equal(user_find_id("/no/such/folder", "33", &uid, &error), 0);
	assert_int_equal(uid, 33);
	assert_int_equal(user_find_id(scratch.path, "jim", &uid, &error), -ENOENT);
	assert_int_equal(error.kind, ERROR_USAGE);
	assert_int_equal(user_find_id(scratch.path, "33:33", &uid, NULL), -ENOENT);
	assert_int_equal(user_find_id(scratch.path, "4294967295", &uid, NULL), -ENOENT);
	assert_int_equal(uid, 33);
	scratch_remove(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names), cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_none),  cmocka_unit_test(test_no_files),
		cmocka_unit_test(test_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
