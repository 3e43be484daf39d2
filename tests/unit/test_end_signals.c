/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How signals end a process that is busy with something else. */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/cpu_delay.h"
#include "system/end_signals.h"
#include "system/privilege.h"

#define STATUS 3

struct busy {
	pid_t pid;
	int out; /* what it has to say */
};

/* Takes the signal that is passed on, and does nothing about it. */
static _Noreturn void busy_run(int out, const char *seconds)
{
	struct end_signals *signals;
	struct error error = { 0 };
	sigset_t passed;
	int number;

	setenv("TRACER_END_SECONDS", seconds, 1);
	if (end_signals_open(STATUS, &signals, &error) || write(out, "o", 1) != 1)
		_exit(100);
	sigemptyset(&passed);
	sigaddset(&passed, end_signals_number());
	if (sigwait(&passed, &number) || write(out, "p", 1) != 1)
		_exit(101);
	for (;;)
		pause();
}

static struct busy busy_start(const char *seconds)
{
	struct busy busy;
	char byte = 0;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	busy.pid = fork();
	if (busy.pid == 0) {
		fclose(stderr);
		busy_run(ends[1], seconds);
	}
	close(ends[1]);
	busy.out = ends[0];
	assert_int_equal(read(busy.out, &byte, 1), 1);
	assert_int_equal(byte, 'o');
	return busy;
}

static void busy_wait_passed(const struct busy *busy)
{
	char byte = 0;

	assert_int_equal(read(busy->out, &byte, 1), 1);
	assert_int_equal(byte, 'p');
}

static void busy_expect_end(struct busy *busy)
{
	int status;

	assert_int_equal(waitpid(busy->pid, &status, 0), busy->pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), STATUS);
	close(busy->out);
}

static void test_one_signal_ends_in_time(void **state)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct busy busy = busy_start("1");

		kill(busy.pid, numbers[i]);
		busy_wait_passed(&busy);
		busy_expect_end(&busy);
	}
}

/* A hangup is no second signal. */
static void test_second_signal_ends_at_once(void **state)
{
	struct busy busy = busy_start("3600");
	int i, status;

	(void)state;
	kill(busy.pid, SIGTERM);
	busy_wait_passed(&busy);
	for (i = 0; i < 30; i++) {
		kill(busy.pid, SIGHUP);
		usleep(10000);
	}
	assert_int_equal(waitpid(busy.pid, &status, WNOHANG), 0);
	while (!waitpid(busy.pid, &status, WNOHANG)) {
		kill(busy.pid, SIGINT);
		usleep(10000);
	}
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), STATUS);
	close(busy.out);
}

/* How far a program is, and how it ends. */
struct stage {
	bool begun;
	int done; /* the status that it sets; -1 = none */
	int status;
	const char *message; /* "" = none */
};

/* Ends by the time that it is given, or by a second signal; returns what it says. */
static int stage_run(const struct stage *stage, int number, char *message, size_t size)
{
	struct end_signals *signals;
	struct error error = { 0 };
	int ends[2], status;
	ssize_t length;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		setenv("TRACER_END_SECONDS", "1", 1);
		dup2(ends[1], STDERR_FILENO);
		close(ends[1]);
		if (end_signals_open(STATUS, &signals, &error))
			_exit(100);
		if (stage->begun)
			end_signals_set_begun();
		if (stage->done >= 0)
			end_signals_set_done(stage->done);
		kill(getpid(), number);
		for (;;)
			pause();
	}
	close(ends[1]);
	length = read(ends[0], message, size - 1);
	message[length > 0 ? length : 0] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* What is written already is no lost report, and its status is that of the program. */
static void test_stages(void **state)
{
	static const struct stage stages[] = {
		{ false, -1, STATUS, "ended before there was anything to report" },
		{ true, -1, STATUS, "ended without the last report" },
		{ true, 0, 0, "" },
		{ true, 1, 1, "" },
	};
	char message[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
		assert_int_equal(stage_run(&stages[i], SIGTERM, message, sizeof(message)),
				 stages[i].status);
		assert_non_null(strstr(message, stages[i].message));
		assert_int_equal(!*message, !*stages[i].message);
	}
}

/* Waits for a CPU, by the kernel's account. */
static double thread_waited_seconds(void)
{
	struct cpu_delay delay = cpu_delay_open(CPU_DELAY_OWN);
	const int64_t ns = cpu_delay_read(&delay);

	cpu_delay_close(&delay);
	return (double)ns / 1e9;
}

/* On a CPU that others keep busy: it waits for it for longer than its time. */
static _Noreturn void starved_run(void)
{
	struct end_signals *signals;
	struct error error = { 0 };
	double begin;
	int number;
	sigset_t passed;

	setenv("TRACER_END_SECONDS", "2", 1);
	if (end_signals_open(STATUS, &signals, &error))
		_exit(100);
	end_signals_set_begun();
	sigemptyset(&passed);
	sigaddset(&passed, end_signals_number());
	kill(getpid(), SIGTERM);
	if (sigwait(&passed, &number))
		_exit(101);
	for (begin = thread_waited_seconds(); thread_waited_seconds() - begin < 3;)
		;
	_exit(0);
}

static void test_waits_for_a_cpu_do_not_count(void **state)
{
	pid_t busy[3], starved;
	cpu_set_t one;
	int status;
	size_t i;

	(void)state;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	for (i = 0; i < sizeof(busy) / sizeof(busy[0]); i++) {
		busy[i] = fork();
		if (busy[i] == 0) {
			sched_setaffinity(0, sizeof(one), &one);
			for (;;)
				;
		}
	}
	starved = fork();
	if (starved == 0) {
		sched_setaffinity(0, sizeof(one), &one);
		starved_run();
	}
	assert_int_equal(waitpid(starved, &status, 0), starved);
	for (i = 0; i < sizeof(busy) / sizeof(busy[0]); i++) {
		kill(busy[i], SIGKILL);
		waitpid(busy[i], NULL, 0);
	}
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* CapPrm and CapEff of all threads but the first. */
static bool thread_has_capabilities(pid_t thread)
{
	unsigned long long permitted = 0, effective = 0;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)thread);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "CapPrm: %llx", &permitted);
		sscanf(line, "CapEff: %llx", &effective);
	}
	fclose(file);
	return permitted || effective;
}

/* Threads of a process have numbers one after the other, if nobody else takes one in between. */
static void test_thread_drops_privileges(void **state)
{
	struct end_signals *signals;
	struct error error = { 0 };
	pid_t pid = fork(), thread;
	int status, found = 0;
	char path[64];

	(void)state;
	if (pid == 0) {
		if (end_signals_open(STATUS, &signals, &error))
			_exit(100);
		end_signals_drop_privileges(signals, privileges_unused_user());
		for (thread = getpid() + 1; thread < getpid() + 10000 && !found; thread++) {
			snprintf(path, sizeof(path), "/proc/self/task/%d", (int)thread);
			found = !access(path, F_OK);
			if (found)
				_exit(thread_has_capabilities(thread));
		}
		_exit(101);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_slowness(void **state)
{
	(void)state;
	unsetenv("TRACER_END_SECONDS");
	assert_int_equal(end_signals_slowness(), 1);
	setenv("TRACER_END_SECONDS", "180", 1);
	assert_int_equal(end_signals_slowness(), 36);
	/* No look is shorter for it. */
	setenv("TRACER_END_SECONDS", "1", 1);
	assert_int_equal(end_signals_slowness(), 1);
	unsetenv("TRACER_END_SECONDS");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_signal_ends_in_time),
		cmocka_unit_test(test_second_signal_ends_at_once),
		cmocka_unit_test(test_stages),
		cmocka_unit_test(test_waits_for_a_cpu_do_not_count),
		cmocka_unit_test(test_thread_drops_privileges),
		cmocka_unit_test(test_slowness),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
