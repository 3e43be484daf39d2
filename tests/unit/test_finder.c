/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A finder that was never opened leaves descriptors alone. Truth: those that the test has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <unistd.h>

#include "command/finder.h"
#include "kernel/thread_iterator.h"

/* In place of user/kernel/. */
void thread_iterator_free(struct thread_iterator *iterator)
{
	assert_null(iterator);
}

static void test_close_without_open(void **state)
{
	struct finder finder = { .output = OUTPUT_STDOUT };
	struct error error = { 0 };

	(void)state;
	assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0 ||
		    open("/dev/null", O_RDONLY) == STDIN_FILENO);
	assert_int_equal(finder_close(&finder, &error), 0);
	assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
	assert_true(fcntl(STDOUT_FILENO, F_GETFD) >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_close_without_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
