/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stopped process goes on on request, and when its caller ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/thread_rest.h"
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
	assert_int_equal(watchdog_start(&watchdog, pid, 0, NULL), 0);
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
		if (watchdog_start(&watchdog, pid, 0, NULL))
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
	struct watchdog watchdog, none = WATCHDOG_NONE;

	(void)state;
	assert_int_equal(watchdog_start(&watchdog, pid, 0, NULL), 0);
	watchdog_close(&watchdog);
	check_ended(pid);
	watchdog_close(&watchdog);
	watchdog_close(&none);
}

static bool is_stopped(pid_t pid)
{
	return thread_rest_is_stopped("/proc", pid);
}

static void wait_for_state(pid_t pid, bool stopped)
{
	int tries;

	for (tries = 0; is_stopped(pid) != stopped && tries < PATIENCE_MS; tries++)
		usleep(1000);
	assert_int_equal(is_stopped(pid), stopped);
}

static pid_t running_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		/* A check that fails ends the test. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_true(pid > 0);
	return pid;
}

static void end_child(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_stop(void **state)
{
	pid_t pid = running_child();
	struct watchdog watchdog;

	(void)state;
	assert_int_equal(watchdog_start(&watchdog, pid, PATIENCE_MS, NULL), 0);
	assert_false(is_stopped(pid));
	watchdog_stop(&watchdog);
	wait_for_state(pid, true);
	watchdog_let_go(&watchdog);
	wait_for_state(pid, false);
	watchdog_close(&watchdog);
	end_child(pid);
}

/* That it goes on, which only what was stopped does: a short stop may be over before it is seen on a busy machine. */
static void wait_until_it_goes_on(pid_t pid)
{
	int status = 0, tries;

	for (tries = 0; !WIFCONTINUED(status) && tries < PATIENCE_MS; tries++) {
		if (!waitpid(pid, &status, WUNTRACED | WCONTINUED | WNOHANG))
			usleep(1000);
	}
	assert_true(WIFCONTINUED(status));
	assert_false(is_stopped(pid));
}

/* Nobody lets it go on. */
static void test_stop_has_a_limit(void **state)
{
	pid_t pid = running_child();
	struct watchdog watchdog;

	(void)state;
	assert_int_equal(watchdog_start(&watchdog, pid, 50, NULL), 0);
	watchdog_stop(&watchdog);
	wait_until_it_goes_on(pid);
	watchdog_close(&watchdog);
	end_child(pid);
}

static void test_caller_ends_in_stop(void **state)
{
	pid_t pid = running_child(), caller;
	struct watchdog watchdog;

	(void)state;
	caller = fork();
	if (!caller) {
		if (watchdog_start(&watchdog, pid, 10 * PATIENCE_MS, NULL))
			_exit(1);
		watchdog_stop(&watchdog);
		for (;;)
			pause();
	}
	wait_for_state(pid, true);
	end_child(caller);
	wait_for_state(pid, false);
	end_child(pid);
}

/* The child that was born last: a watchdog that was just started. */
static pid_t last_child(void)
{
	char path[64], text[4096] = "";
	const char *at;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	file = fopen(path, "r");
	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	text[strcspn(text, "\n")] = '\0';
	while (*text && text[strlen(text) - 1] == ' ')
		text[strlen(text) - 1] = '\0';
	at = strrchr(text, ' ');
	return (pid_t)atoi(at ? at + 1 : text);
}

/* Nobody is left to request anything: the caller does not. */
static void test_watchdog_is_killed(void **state)
{
	pid_t pid = running_child();
	struct watchdog watchdog;

	(void)state;
	assert_int_equal(watchdog_start(&watchdog, pid, 10 * PATIENCE_MS, NULL), 0);
	watchdog_stop(&watchdog);
	wait_for_state(pid, true);
	end_child(last_child());
	wait_for_state(pid, false);
	assert_true(watchdog_let_go(&watchdog));
	watchdog_close(&watchdog);
	end_child(pid);
}

/* One that was stopped itself: the caller lets the process go on. */
static void test_watchdog_is_stopped(void **state)
{
	pid_t pid = running_child(), dog;
	struct watchdog watchdog;

	(void)state;
	assert_int_equal(watchdog_start(&watchdog, pid, 10 * PATIENCE_MS, NULL), 0);
	dog = last_child();
	watchdog_stop(&watchdog);
	wait_for_state(pid, true);
	assert_int_equal(kill(dog, SIGSTOP), 0);
	wait_for_state(dog, true);
	assert_true(watchdog_let_go(&watchdog));
	assert_false(is_stopped(pid));
	watchdog_close(&watchdog);
	end_child(dog);
	end_child(pid);
}

/* The watchdog can do nothing, and the caller neither. */
static void test_caller_ends_without_watchdog(void **state)
{
	pid_t pid = running_child(), caller, dog = 0;
	struct watchdog watchdog;
	int ready[2];

	(void)state;
	assert_int_equal(pipe(ready), 0);
	caller = fork();
	if (!caller) {
		if (watchdog_start(&watchdog, pid, 10 * PATIENCE_MS, NULL))
			_exit(1);
		dog = last_child();
		watchdog_stop(&watchdog);
		if (write(ready[1], &dog, sizeof(dog)) != sizeof(dog))
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &dog, sizeof(dog)), sizeof(dog));
	wait_for_state(pid, true);
	assert_int_equal(kill(dog, SIGSTOP), 0);
	wait_for_state(dog, true);
	end_child(caller);
	wait_for_state(pid, false);
	assert_int_equal(kill(dog, SIGKILL), 0);
	end_child(pid);
	close(ready[0]);
	close(ready[1]);
}

/* What somebody else has stopped stays so. */
static void test_stop_of_others(void **state)
{
	pid_t pid = running_child();
	struct watchdog watchdog;
	int tries;

	(void)state;
	assert_int_equal(kill(pid, SIGSTOP), 0);
	wait_for_state(pid, true);
	assert_int_equal(watchdog_start(&watchdog, pid, PATIENCE_MS, NULL), 0);
	watchdog_close(&watchdog);
	for (tries = 0; tries < 50; tries++, usleep(1000))
		assert_true(is_stopped(pid));
	end_child(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_stop_has_a_limit),
		cmocka_unit_test(test_caller_ends_in_stop),
		cmocka_unit_test(test_watchdog_is_killed),
		cmocka_unit_test(test_watchdog_is_stopped),
		cmocka_unit_test(test_caller_ends_without_watchdog),
		cmocka_unit_test(test_stop_of_others),
		cmocka_unit_test(test_request),
		cmocka_unit_test(test_caller_ends),
		cmocka_unit_test(test_closed),
	};

	/* As the tracer does: a watchdog may have gone. */
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
