/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks at a shell that executes another one whenever it reads a line. Truth: how often it did, and what the kernel counts of the
 * last one (VmRSS).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory/memory_look.h"
#include "memory/memory_runtimes.h"
#include "system/program_identity.h"

/* Each reads one byte at a time, so that a line is left for the next one. */
#define SCRIPT "read line || exit; exec /bin/sh -c \"$SCRIPT\""

static struct {
	pid_t pid;
	int lines;
	int left; /* how often another program is executed in the middle of a look */
	int done;
} shell;

static struct program_identity identify(void)
{
	struct program_identity identity;
	int tries;

	/* Between two programs there is none. */
	for (tries = 0; tries < 10000 && program_identity_read(shell.pid, &identity); tries++)
		usleep(1000);
	assert_true(tries < 10000);
	return identity;
}

static void execute_another(void)
{
	struct program_identity before = identify(), now;
	int tries = 0;

	assert_int_equal(write(shell.lines, "\n", 1), 1);
	do {
		usleep(1000);
		now = identify();
	} while (program_identity_is_same(&before, &now) && tries++ < 10000);
	assert_false(program_identity_is_same(&before, &now));
	shell.done++;
}

static void on_stage(const char *name)
{
	if (!strcmp(name, "runtimes") && shell.left) {
		shell.left--;
		execute_another();
	}
}

/* From the fork to the first shell. `executed` is closed by its exec, and then it has no random bytes yet. */
static void wait_for_shell(int executed)
{
	char byte;
	int tries;

	assert_int_equal(read(executed, &byte, 1), 0);
	close(executed);
	for (tries = 0; tries < 10000 && !identify().has_random; tries++)
		usleep(1000);
	assert_true(tries < 10000);
}

/* Without random addresses: nothing else distinguishes the shells. */
static int set_up(void **state)
{
	int ends[2], executed[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pipe2(executed, O_CLOEXEC), 0);
	shell.pid = fork();
	if (!shell.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		personality(ADDR_NO_RANDOMIZE);
		dup2(ends[0], STDIN_FILENO);
		close(ends[0]);
		close(ends[1]);
		setenv("SCRIPT", SCRIPT, 1);
		execl("/bin/sh", "/bin/sh", "-c", SCRIPT, NULL);
		_exit(127);
	}
	close(ends[0]);
	close(executed[1]);
	shell.lines = ends[1];
	shell.left = shell.done = 0;
	wait_for_shell(executed[0]);
	execute_another();
	shell.done = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close(shell.lines);
	kill(shell.pid, SIGKILL);
	waitpid(shell.pid, NULL, 0);
	return 0;
}

static void test_same(void **state)
{
	struct program_identity first = identify(), second = identify(), unknown = first;

	(void)state;
	assert_true(program_identity_is_same(&first, &second));
	/* Its page may be swapped out. */
	unknown.has_random = false;
	unknown.random[0]++;
	assert_true(program_identity_is_same(&first, &unknown));
	unknown.vector++;
	assert_false(program_identity_is_same(&first, &unknown));
	assert_int_equal(program_identity_read(INT32_MAX, &second), -ESRCH);
}

/* Whatever is read while a program is executed is that of the one before or that of the one after. */
static void test_same_while_executed(void **state)
{
	struct program_identity before, now, after;
	int tries, i;

	(void)state;
	for (i = 0; i < 200; i++) {
		before = identify();
		assert_int_equal(write(shell.lines, "\n", 1), 1);
		for (tries = 0; tries < 100000; tries++) {
			if (!program_identity_read(shell.pid, &now) &&
			    !program_identity_is_same(&before, &now))
				break;
		}
		assert_true(tries < 100000);
		usleep(2000);
		after = identify();
		assert_true(program_identity_is_same(&now, &after));
	}
}

/* What is reported is all of the program that runs then. */
static void test_executes_once(void **state)
{
	const struct memory_wanted wanted = { .on_stage = on_stage };
	struct memory_report report = { 0 };
	struct error error = { 0 };

	(void)state;
	shell.left = 1;
	assert_int_equal(memory_look(shell.pid, &wanted, &report, &error), 0);
	assert_int_equal(shell.done, 1);
	assert_int_equal(report.process.pid, shell.pid);
	assert_true(memory_report_rss(&report) > 0);
	assert_int_equal(memory_report_rss(&report), report.process.rss_bytes);
	assert_int_equal(report.parts[PURPOSE_STACK].count, 1);
	/* There was no look before. */
	assert_false(report.executed);
	memory_report_free(&report);
}

static void test_executes_always(void **state)
{
	const struct memory_wanted wanted = { .on_stage = on_stage };
	struct memory_report report = { 0 };
	struct error error = { 0 };

	(void)state;
	shell.left = 100;
	assert_int_equal(memory_look(shell.pid, &wanted, &report, &error), -ESTALE);
	assert_int_equal(error.kind, ERROR_TARGET);
	assert_non_null(strstr(error.text, "executed another program"));
	assert_true(shell.done < 10);
	assert_int_equal(report.heap_count, 0);
	memory_report_free(&report);
}

/* What was kept of the program before is dropped, whether it ended between looks or in the middle of one. */
static void test_executes_between(void **state)
{
	struct memory_wanted wanted = { .on_stage = on_stage, .kept = memory_kept_new() };
	struct memory_report report = { 0 };
	struct error error = { 0 };
	int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		if (i == 1)
			execute_another();
		shell.left = i == 2;
		assert_int_equal(memory_look(shell.pid, &wanted, &report, &error), 0);
		assert_int_equal(report.executed, i == 1 || i == 2);
		assert_int_equal(report.remarks.data &&
					 strstr(report.remarks.data, "another program") != NULL,
				 report.executed);
		memory_report_free(&report);
	}
	memory_kept_free(wanted.kept);
}

static void end_it(const char *name)
{
	if (!strcmp(name, "runtimes")) {
		kill(shell.pid, SIGKILL);
		/* It stays a zombie for tear_down. */
		waitid(P_PID, (id_t)shell.pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	}
}

static void test_ends(void **state)
{
	const struct memory_wanted wanted = { .on_stage = end_it };
	struct memory_report report = { 0 };
	struct error error = { 0 };

	(void)state;
	assert_int_equal(memory_look(shell.pid, &wanted, &report, &error), -ESRCH);
	assert_non_null(strstr(error.text, "ended while it was looked at"));
	memory_report_free(&report);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_same),
		TEST(test_same_while_executed),
		TEST(test_executes_once),
		TEST(test_executes_always),
		TEST(test_executes_between),
		TEST(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
