/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stopped process goes on on request, and when its caller ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/watchdog.h"

#define PATIENCE_MS 180000
#define STATUS 5

/* A child that has stopped itself, and ends when it goes on. */
static pid_t stopped_child(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		raise(SIGSTOP);
		_exit(STATUS);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	return pid;
}

static void check_ended(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), STATUS);
}

static void test_request(void **state)
{
	pid_t pid = stopped_child();
	struct watchdog watchdog;

	(void)state;
	assert_int_equal(watchdog_start(&watchdog, pid, NULL), 0);
	assert_false(watchdog_wait_end(&watchdog, 0));
	watchdog_let_go(&watchdog);
	assert_true(watchdog_wait_end(&watchdog, PATIENCE_MS));
	watchdog_close(&watchdog);
	check_ended(pid);
}

/* Whoever else has the pipe: here the child's own child, which outlives its parent. */
static void test_caller_ends(void **state)
{
	pid_t pid = stopped_child(), caller, other = 0;
	struct watchdog watchdog;
	int status, ready[2];

	(void)state;
	assert_int_equal(pipe(ready), 0);
	caller = fork();
	if (!caller) {
		if (watchdog_start(&watchdog, pid, NULL))
			_exit(1);
		other = fork();
		if (!other)
			pause();
		if (write(ready[1], &other, sizeof(other)) != sizeof(other))
			_exit(1);
		pause();
	}
	assert_int_equal(read(ready[0], &other, sizeof(other)), sizeof(other));
	kill(caller, SIGKILL);
	assert_int_equal(waitpid(caller, &status, 0), caller);
	check_ended(pid);
	assert_int_equal(kill(other, SIGKILL), 0);
	close(ready[0]);
	close(ready[1]);
}

static void test_closed(void **state)
{
	pid_t pid = stopped_child();
	struct watchdog watchdog, none = { -1, -1 };

	(void)state;
	assert_int_equal(watchdog_start(&watchdog, pid, NULL), 0);
	watchdog_close(&watchdog);
	check_ended(pid);
	watchdog_close(&watchdog);
	watchdog_close(&none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request),
		cmocka_unit_test(test_caller_ends),
		cmocka_unit_test(test_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
