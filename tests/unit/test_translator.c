/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that run others by translating their code, by the names of their files. Truth: names in packages of Debian. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "discover/translator.h"

static void check(const char *exe, const char *expected)
{
	const char *found = translator_find(exe);

	if (!expected)
		assert_null(found);
	else if (!found)
		fail_msg("%s is none", exe);
	else
		assert_string_equal(found, expected);
}

static void test_names(void **state)
{
	(void)state;
	check("/usr/libexec/valgrind/memcheck-amd64-linux", "valgrind");
	check("/usr/lib/valgrind/none-arm64-linux", "valgrind");
	check("/opt/valgrind-3.24/libexec/valgrind/massif-amd64-linux", "valgrind");
	check("/usr/bin/valgrind.bin", NULL); /* it executes one of these */
	check("/usr/libexec/valgrind/getoff-amd64", NULL);
	check("/srv/valgrind/build/server", NULL);
	check("/usr/bin/qemu-system-x86_64", NULL);
	check("/usr/bin/qemu-img", NULL);
	check("/usr/bin/qemu-s390x-static", NULL); /* no code of this machine */
	check("qemu", NULL);
	check("", NULL);
	check(NULL, NULL);
}

/* The emulator of the code that this machine executes itself. */
static void test_own_code(void **state)
{
	struct utsname name;
	char exe[256];

	(void)state;
	assert_int_equal(uname(&name), 0);
	snprintf(exe, sizeof(exe), "/usr/bin/qemu-%s", name.machine);
	check(exe, "qemu-user");
	strcat(exe, "-static");
	check(exe, "qemu-user");
	strcat(exe, "x");
	check(exe, NULL);
}

static void test_processes(void **state)
{
	(void)state;
	assert_null(translator_find_of(getpid()));
	assert_null(translator_find_of(-1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_own_code),
		cmocka_unit_test(test_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
