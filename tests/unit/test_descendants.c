/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descendants of a process that the test starts: a shell, its children and theirs. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "discover/descendants.h"

/* The pids that the shells print are the truth. Both levels sleep in a child of their own. */
static const char script[] =
	"sleep 100 & echo $!; sh -c 'sleep 100 & echo $!; echo; wait' & echo $!; wait";

static bool has(const struct pid_list *list, pid_t pid)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (list->pids[i] == pid)
			return true;
	return false;
}

static void test_tree(void **state)
{
	struct pid_list all = { 0 }, children = { 0 };
	int ends[2], pids[3], i;
	pid_t shell;
	FILE *output;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	shell = fork();
	if (shell == 0) {
		setpgid(0, 0);
		dup2(ends[1], STDOUT_FILENO);
		execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(1);
	}
	close(ends[1]);
	output = fdopen(ends[0], "r");
	for (i = 0; i < 3; i++)
		assert_int_equal(fscanf(output, "%d", &pids[i]), 1);
	pid_list_add(&all, shell);
	descendants_list(shell, &all);
	assert_int_equal(all.count, 4);
	for (i = 0; i < 3; i++)
		assert_true(has(&all, pids[i]));
	/* Those that are listed are not listed again. */
	descendants_list(shell, &all);
	assert_int_equal(all.count, 4);
	descendants_list_children(shell, &children);
	assert_int_equal(children.count, 2);
	assert_true(has(&children, pids[0]));
	kill(-shell, SIGKILL);
	fclose(output);
	while (wait(NULL) > 0)
		;
	pid_list_free(&all);
	pid_list_free(&children);
	descendants_list(shell, &all);
	assert_int_equal(all.count, 0);
	/* This process has no others. */
	descendants_list(getpid(), &all);
	assert_int_equal(all.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),
	};

	/* The grandchildren are this one's to reap. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
