/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A part of each unit and host program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <sanitizer/asan_interface.h>

/* Tests may replace data of the library by their own, as they do with functions. */
const char *__asan_default_options(void)
{
	return "detect_odr_violation=0";
}

/* CMOCKA_TEST_FILTER selects tests by name, as later releases of cmocka have it. */
static __attribute__((constructor)) void program_set_filter(void)
{
	cmocka_set_test_filter(getenv("CMOCKA_TEST_FILTER"));
}
