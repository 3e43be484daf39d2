/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In each unit and host program: CMOCKA_TEST_FILTER selects tests by name, as later releases of cmocka have it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static __attribute__((constructor)) void filter_set(void)
{
	cmocka_set_test_filter(getenv("CMOCKA_TEST_FILTER"));
}
