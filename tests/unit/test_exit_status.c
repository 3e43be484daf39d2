/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exit status, for each way in which a run can end. Truth: the table of the manual page, EXIT STATUS; and a shell's own statuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "command/exit_status.h"

/* A command that has ended so, in a shell: its wait status. */
static int wait_status_of(const char *script)
{
	const int status = system(script);

	assert_true(status >= 0);
	return status;
}

static struct exit_facts facts_of(const char *script, enum exit_finding finding)
{
	return (struct exit_facts){ .has_command = true,
				    .is_started = true,
				    .has_ended = true,
				    .wait_status = wait_status_of(script),
				    .finding = finding,
				    .error_exitcode = 1 };
}

static int status_of(const char *script, enum exit_finding finding, uint64_t error_exitcode)
{
	struct exit_facts facts = facts_of(script, finding);

	facts.error_exitcode = error_exitcode;
	return exit_status_of(&facts);
}

static void test_command(void **state)
{
	(void)state;
	assert_int_equal(status_of("exit 0", FINDING_NOTHING, 1), 0);
	assert_int_equal(status_of("exit 42", FINDING_NOTHING, 1), 42);
	assert_int_equal(status_of("exit 255", FINDING_NOTHING, 1), 255);
	assert_int_equal(status_of("kill -9 $$", FINDING_NOTHING, 1), 137);
	assert_int_equal(status_of("kill -15 $$", FINDING_NOTHING, 0), 143);
}

/* What was found wins, but with 0. */
static void test_found(void **state)
{
	(void)state;
	assert_int_equal(status_of("exit 0", FINDING_FOUND, 1), 1);
	assert_int_equal(status_of("exit 42", FINDING_FOUND, 1), 1);
	assert_int_equal(status_of("kill -9 $$", FINDING_FOUND, 77), 77);
	assert_int_equal(status_of("exit 42", FINDING_FOUND, 0), 42);
	assert_int_equal(status_of("exit 0", FINDING_FOUND, 0), 0);
	assert_int_equal(status_of("exit 0", FINDING_FOUND, 255), 255);
}

/* Not judged is no success; a command's own failure is none either, and is passed on. */
static void test_unjudged(void **state)
{
	(void)state;
	assert_int_equal(status_of("exit 0", FINDING_UNJUDGED, 1), 3);
	assert_int_equal(status_of("exit 0", FINDING_UNJUDGED, 77), 3);
	assert_int_equal(status_of("exit 42", FINDING_UNJUDGED, 1), 42);
	assert_int_equal(status_of("kill -6 $$", FINDING_UNJUDGED, 1), 134);
	assert_int_equal(status_of("exit 0", FINDING_UNJUDGED, 0), 0);
}

static void test_tracer_fails(void **state)
{
	struct exit_facts facts = facts_of("exit 42", FINDING_FOUND);

	(void)state;
	facts.error = ERROR_PERMISSION;
	assert_int_equal(exit_status_of(&facts), 125);
	facts.has_ended = false;
	assert_int_equal(exit_status_of(&facts), 125);
	/* Before the start the table without a command holds. */
	facts.is_started = false;
	assert_int_equal(exit_status_of(&facts), 3);
	facts.error = ERROR_USAGE;
	assert_int_equal(exit_status_of(&facts), 2);
	facts.error = ERROR_NOT_FOUND;
	assert_int_equal(exit_status_of(&facts), 127);
	facts.error = ERROR_NOT_EXECUTABLE;
	assert_int_equal(exit_status_of(&facts), 126);
}

/* A command that goes on has no status; one that somebody else has reaped has one that is not known. */
static void test_no_status(void **state)
{
	struct exit_facts facts = facts_of("exit 42", FINDING_NOTHING);

	(void)state;
	facts.wait_status = -1;
	assert_int_equal(exit_status_of(&facts), 125);
	facts.has_ended = false;
	assert_int_equal(exit_status_of(&facts), 0);
	facts.finding = FINDING_FOUND;
	assert_int_equal(exit_status_of(&facts), 1);
}

static void test_without_command(void **state)
{
	struct exit_facts facts = { .error_exitcode = 77 };

	(void)state;
	assert_int_equal(exit_status_of(&facts), 0);
	facts.finding = FINDING_FOUND;
	assert_int_equal(exit_status_of(&facts), 1);
	facts.error_exitcode = 0;
	assert_int_equal(exit_status_of(&facts), 1);
	facts.finding = FINDING_UNJUDGED;
	assert_int_equal(exit_status_of(&facts), 3);
	facts.error = ERROR_NOTHING;
	assert_int_equal(exit_status_of(&facts), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_command),	  cmocka_unit_test(test_found),
		cmocka_unit_test(test_unjudged),  cmocka_unit_test(test_tracer_fails),
		cmocka_unit_test(test_no_status), cmocka_unit_test(test_without_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
