/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that return in time, that return late, and that never return. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/memory.h"
#include "base/timed_call.h"

/* A call that waits for a byte, and says by another pipe that it was freed. */
struct waiting {
	struct timed_call call;
	int in, freed;
	char got;
};

static void waiting_run(struct timed_call *call)
{
	struct waiting *waiting = (struct waiting *)call;

	if (read(waiting->in, &waiting->got, 1) != 1)
		waiting->got = 0;
}

static void waiting_free(struct timed_call *call)
{
	struct waiting *waiting = (struct waiting *)call;

	if (write(waiting->freed, "f", 1) != 1)
		abort();
	free(waiting);
}

static struct waiting *waiting_new(const int in[2], const int freed[2])
{
	struct waiting *waiting = memory_alloc(1, sizeof(*waiting));

	*waiting = (struct waiting){ { waiting_run, waiting_free }, in[0], freed[1], 0 };
	return waiting;
}

static void test_in_time(void **state)
{
	struct call_patience patience = { .full_ns = 60000000000ull };
	struct waiting *waiting;
	int in[2], freed[2];

	(void)state;
	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(freed), 0);
	waiting = waiting_new(in, freed);
	assert_int_equal(write(in[1], "x", 1), 1);
	assert_int_equal(timed_call_run(&waiting->call, &patience), 0);
	assert_int_equal(waiting->got, 'x');
	assert_int_equal(patience.late, 0);
	free(waiting);
	close(in[0]);
	close(in[1]);
	close(freed[0]);
	close(freed[1]);
}

/* What a late call has is freed when it returns, by its own thread. */
static void test_late(void **state)
{
	struct call_patience patience = { .full_ns = 20000000 };
	int in[2], freed[2];
	char byte = 0;

	(void)state;
	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(freed), 0);
	assert_int_equal(timed_call_run(&waiting_new(in, freed)->call, &patience), -ETIMEDOUT);
	assert_int_equal(timed_call_run(&waiting_new(in, freed)->call, &patience), -ETIMEDOUT);
	assert_int_equal(patience.late, 2);
	assert_int_equal(write(in[1], "xy", 2), 2);
	assert_int_equal(read(freed[0], &byte, 1), 1);
	assert_int_equal(byte, 'f');
	assert_int_equal(read(freed[0], &byte, 1), 1);
	close(in[0]);
	close(in[1]);
	close(freed[0]);
	close(freed[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_time),
		cmocka_unit_test(test_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
