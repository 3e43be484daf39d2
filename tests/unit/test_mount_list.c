/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mount points out of texts as the kernel writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/memory.h"
#include "system/mount_list.h"

static void assert_next(const char **at, const char *expected)
{
	char *point = mount_list_next(at);

	if (expected)
		assert_string_equal(point, expected);
	else
		assert_null(point);
	free(point);
}

static void test_points(void **state)
{
	const char *at = "21 26 0:20 / /proc rw,relatime - proc proc rw\n"
			 "26 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw,discard\n"
			 "27 26 0:30 /a\\040b /mnt/with\\040blank\\0111\\134 rw - tmpfs tmpfs rw\n"
			 "28 26 0:31 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
			 "30 26 0:33 / /net rw - nfs4 server:/ rw\n"
			 "31 26 0:34 / /remote rw - fuse.sshfs a:/ rw\n"
			 "32 26 0:35 / /share rw - virtiofs share rw\n"
			 "29 26 0:32 / /home rw - btrfs /dev/vdb rw";

	(void)state;
	assert_next(&at, "/");
	assert_next(&at, "/mnt/with blank\t1\\");
	assert_next(&at, "/home");
	assert_next(&at, NULL);
	assert_int_equal(*at, '\0');
}

static void test_nonsense(void **state)
{
	const char *at = "\n\nno mount\n1 2 3:4 / relative rw - ext4 a rw\n1 2 3:4 / - ext4\n - \n"
			 "1 2 3:4 / /end\\04 rw - ext4 a rw\n";

	(void)state;
	assert_next(&at, "/end\\04");
	assert_next(&at, NULL);
}

static void test_kinds(void **state)
{
	const char *text =
		"26 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw,discard\n"
		"271 26 0:30 / /a rw - fuse.sshfs - ext4 rw\n"
		"28 26 0:31 / /b rw\n"
		"29 26 0:32 / /c rw - nfs4 server:/ rw\n"
		"30 26 0:33 / /d rw - fuse lab rw,user_id=0,group_id=0\n"
		"31 26 0:34 / /e rw - fuse.sshfs lab rw,user_id=1000,group_id=0\n"
		"32 26 0:35 / /f rw - nfs user_id=1 rw";

	(void)state;
	assert_int_equal(mount_list_kind(text, 26), MOUNT_LOCAL);
	assert_int_equal(mount_list_kind(text, 271), MOUNT_REMOTE);
	assert_int_equal(mount_list_kind(text, 28), MOUNT_REMOTE);
	assert_int_equal(mount_list_kind(text, 29), MOUNT_REMOTE);
	assert_int_equal(mount_list_kind(text, 30), MOUNT_REMOTE);
	assert_int_equal(mount_list_kind(text, 31), MOUNT_REMOTE_OF_USER);
	assert_int_equal(mount_list_kind(text, 32), MOUNT_REMOTE);
	assert_int_equal(mount_list_kind(text, 27), MOUNT_UNKNOWN);
	assert_int_equal(mount_list_kind("", 27), MOUNT_UNKNOWN);
}

/* What a walk along a path may wait for. */
static void test_remote(void **state)
{
	const char *local = "26 1 254:0 / / rw - ext4 /dev/vda rw\n"
			    "27 26 0:5 / /proc rw - proc proc rw\n"
			    "28 26 0:6 / /sys/fs/cgroup rw - cgroup2 none rw";
	char *text;

	(void)state;
	assert_false(mount_list_has_remote(""));
	assert_false(mount_list_has_remote(local));
	text = memory_format("%s\n29 26 0:32 / /a rw - fuse lab rw\n", local);
	assert_true(mount_list_has_remote(text));
	free(text);
	text = memory_format("29 26 0:32 / /a rw - autofs lab rw\n%s", local);
	assert_true(mount_list_has_remote(text));
	free(text);
	assert_true(mount_list_has_remote("29 26 0:32 / /a rw"));
}

static void test_devices(void **state)
{
	const char *text = "26 1 254:0 / / rw - ext4 /dev/vda rw\n"
			   "27 26 0:5 / /proc rw - proc proc rw\n"
			   "28 26 0:30 / /a rw - fuse lab rw";

	(void)state;
	assert_true(mount_list_has_local(text, 254, 0));
	assert_false(mount_list_has_local(text, 254, 1));
	assert_false(mount_list_has_local(text, 0, 5));
	assert_false(mount_list_has_local(text, 0, 30));
	assert_true(mount_list_has_type(text, "fuse", 0, 30));
	assert_false(mount_list_has_type(text, "fuse", 254, 0));
	assert_false(mount_list_has_type(text, "tmpfs", 0, 30));
}

static void test_namespace(void **state)
{
	dev_t device, other_device;
	ino_t inode, other_inode;

	(void)state;
	assert_int_equal(mount_namespace_identify(getpid(), &device, &inode), 0);
	assert_int_equal(mount_namespace_identify(getppid(), &other_device, &other_inode), 0);
	assert_true(device == other_device && inode == other_inode);
	assert_true(mount_namespace_identify(-1, &device, &inode) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_points), cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_kinds),  cmocka_unit_test(test_devices),
		cmocka_unit_test(test_remote), cmocka_unit_test(test_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
