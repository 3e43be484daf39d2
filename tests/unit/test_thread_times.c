/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPU times of threads, of this process: against each thread's own clock. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "system/thread_times.h"

#define WORK_NS 30000000

static int gate[2];

/* Works for some CPU time, then waits for the end of the gate. */
static void *work(void *argument)
{
	pid_t *ret_thread = argument;
	uint64_t end_ns = clock_thread_ns() + WORK_NS;
	pid_t thread = (pid_t)syscall(SYS_gettid);
	char byte;

	while (clock_thread_ns() < end_ns)
		;
	__atomic_store_n(ret_thread, thread, __ATOMIC_RELEASE);
	assert_int_equal(read(gate[0], &byte, 1), 0);
	return NULL;
}

static pthread_t begin(pid_t *thread)
{
	pthread_t handle;

	*thread = 0;
	assert_int_equal(pthread_create(&handle, NULL, work, thread), 0);
	while (!__atomic_load_n(thread, __ATOMIC_ACQUIRE))
		usleep(1000);
	return handle;
}

/* The kernel has the time of a thread that still runs up to its last tick: until all of its work is there. */
static void wait_worked(const struct thread_times *times, pid_t thread)
{
	uint64_t end_ns = clock_now_ns() + 60000000000;

	while (thread_times_since(times, getpid(), thread) < WORK_NS) {
		assert_true(clock_now_ns() < end_ns);
		usleep(1000);
	}
}

/* One that was joined is still there for a moment. */
static void wait_gone(const struct thread_times *times, pid_t thread)
{
	uint64_t end_ns = clock_now_ns() + 60000000000;

	while (thread_times_since(times, getpid(), thread)) {
		assert_true(clock_now_ns() < end_ns);
		usleep(1000);
	}
}

/* A thread of before has used nothing since; one that is new, all of its time. */
static void test_since(void **state)
{
	struct thread_times none = { 0 }, times = { 0 };
	pid_t before, after;
	pthread_t handles[2];

	(void)state;
	assert_int_equal(pipe(gate), 0);
	handles[0] = begin(&before);
	wait_worked(&none, before);
	thread_times_read(&times, getpid());
	assert_int_equal(times.count, 2);
	assert_false(times.cut);
	handles[1] = begin(&after);
	wait_worked(&times, after);
	assert_true(thread_times_since(&times, getpid(), before) < WORK_NS);
	close(gate[1]);
	pthread_join(handles[0], NULL);
	pthread_join(handles[1], NULL);
	wait_gone(&times, after);
	close(gate[0]);
	thread_times_free(&times);
}

static void test_none(void **state)
{
	struct thread_times times = { 0 };

	(void)state;
	thread_times_read(&times, INT_MAX);
	assert_int_equal(times.count, 0);
	assert_int_equal(thread_times_since(&times, INT_MAX, INT_MAX), 0);
	/* A thread of another process is none of this one. */
	assert_int_equal(thread_times_since(&times, getpid(), getppid()), 0);
	thread_times_free(&times);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_since),
					    cmocka_unit_test(test_none) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
