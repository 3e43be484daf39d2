/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that return in time, that return late, and that never return. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
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

#define OTHERS 20
#define WORK_NS 100000000
#define LIMIT_NS 500000000

static void working_run(struct timed_call *call)
{
	uint64_t end_ns = clock_thread_ns() + WORK_NS;

	(void)call;
	while (clock_thread_ns() < end_ns)
		;
}

static void working_free(struct timed_call *call)
{
	free(call);
}

/* Processes that never rest. */
static void start_others(pid_t others[OTHERS])
{
	size_t i;

	for (i = 0; i < OTHERS; i++) {
		others[i] = fork();
		if (others[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			;
	}
}

/* On one CPU, beside others that have it in turn, the call takes far longer than the limit, but not by waiting for anybody else. */
static void test_busy_machine(void **state)
{
	struct call_patience patience = { .full_ns = LIMIT_NS };
	struct timed_call *working = memory_alloc(1, sizeof(*working));
	pid_t others[OTHERS];
	cpu_set_t all, one;
	uint64_t took_ns;
	size_t i;
	int code;

	(void)state;
	*working = (struct timed_call){ working_run, working_free };
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&one);
	for (i = 0; !CPU_ISSET(i, &all); i++)
		;
	CPU_SET(i, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	start_others(others);
	took_ns = clock_now_ns();
	code = timed_call_run(working, &patience);
	took_ns = clock_now_ns() - took_ns;
	for (i = 0; i < OTHERS; i++) {
		kill(others[i], SIGKILL);
		waitpid(others[i], NULL, 0);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	assert_int_equal(code, 0);
	assert_int_equal(patience.late, 0);
	assert_true(took_ns > WORK_NS);
	free(working);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_time),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_busy_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
