/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which files and environments mean that stacks are walked. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "probe/walker.h"

static void test_paths(void **state)
{
	(void)state;
	assert_string_equal(walker_of_path("/usr/lib/x86_64-linux-gnu/libasan.so.8.0.0"),
			    "AddressSanitizer");
	assert_string_equal(walker_of_path("libclang_rt.tsan-x86_64.so"), "ThreadSanitizer");
	assert_string_equal(walker_of_path("/usr/lib/heaptrack/libheaptrack_preload.so"),
			    "heaptrack");
	assert_null(walker_of_path("/usr/lib/libasan.so.8/libc.so.6"));
	assert_null(walker_of_path("/usr/lib/notlibasan.so"));
	assert_null(walker_of_path(""));
	assert_null(walker_of_path(NULL));
}

#define ENVIRONMENT(text) walker_of_environment(text, sizeof(text) - 1)

static void test_environments(void **state)
{
	(void)state;
	assert_string_equal(ENVIRONMENT("A=b\0MALLOC_CONF=abort:true,prof:true\0C=\0"),
			    "jemalloc's profiler");
	assert_string_equal(ENVIRONMENT("HEAPPROFILE=/tmp/x\0"), "tcmalloc's heap profiler");
	assert_null(ENVIRONMENT("MALLOC_CONF=prof:false\0"));
	assert_null(ENVIRONMENT("HEAPPROFILE=\0A=b\0"));
	assert_null(ENVIRONMENT("HEAPPROFILES=1\0"));
	assert_null(ENVIRONMENT("XHEAPPROFILE=1\0"));
	assert_null(ENVIRONMENT("\0\0\0"));
	assert_null(ENVIRONMENT(""));
	/* Cut off. */
	assert_null(ENVIRONMENT("A=b\0HEAPPROFILE=/tmp"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_environments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
