/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The priority is had where the kernel grants it, by processes that are started meanwhile, too; and nothing changes where it does not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/privilege.h"
#include "system/urgency.h"

/* Does `is_right` hold in a process of its own? What it does to its privileges is its own, too. */
static bool holds(bool (*is_right)(void))
{
	pid_t pid = fork();
	int status = 0;

	if (!pid)
		_exit(is_right());
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 1;
}

static bool is_urgent(void)
{
	return sched_getscheduler(0) == SCHED_FIFO;
}

static bool is_ordinary(void)
{
	return sched_getscheduler(0) == SCHED_OTHER;
}

static bool begins_and_ends(void)
{
	if (!urgency_begin() || !is_urgent() || !holds(is_urgent))
		return false;
	urgency_end();
	return is_ordinary() && holds(is_ordinary);
}

/* As the tracer: the limit first, then all else is given up. */
static bool is_allowed(void)
{
	if (urgency_allow())
		return false;
	privileges_drop_all(privileges_unused_user());
	return begins_and_ends() && begins_and_ends();
}

static bool is_refused(void)
{
	if (setrlimit(RLIMIT_RTPRIO, &(struct rlimit){ 0, 0 }))
		return false;
	privileges_drop_all(privileges_unused_user());
	return urgency_allow() && !urgency_begin() && is_ordinary();
}

/* Some kernels grant it in the first control group only; a user's limit may be 0. Asked without what is tested. */
static bool is_granted(void)
{
	const struct rlimit limit = { 1, 1 };

	return !setrlimit(RLIMIT_RTPRIO, &limit) &&
	       !sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 });
}

static void test_allowed(void **state)
{
	(void)state;
	assert_int_equal(holds(is_allowed), holds(is_granted));
}

static void test_refused(void **state)
{
	(void)state;
	assert_true(holds(is_refused));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allowed),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
