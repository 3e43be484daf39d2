/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each warning is given once. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "follow/notices.h"

struct paper {
	char *text;
	size_t size;
	struct log log;
	struct notices notices;
};

static void paper_open(struct paper *paper)
{
	*paper = (struct paper){ 0 };
	paper->log = (struct log){ open_memstream(&paper->text, &paper->size), LOG_NOTICE };
	paper->notices.log = &paper->log;
}

static size_t paper_lines(struct paper *paper, const char *needle)
{
	const char *at;
	size_t count = 0;

	fflush(paper->log.stream);
	for (at = paper->text; at && (at = strstr(at, needle)); at += strlen(needle))
		count++;
	return count;
}

static void paper_close(struct paper *paper)
{
	fclose(paper->log.stream);
	free(paper->text);
}

static void test_once(void **state)
{
	struct process process = { .target = { .pid = 42, .comm = "target" } };
	struct module module = { .path = (char *)"/lib/a.so", .unanswered = true };
	struct paper paper;
	int i;

	(void)state;
	paper_open(&paper);
	for (i = 0; i < 3; i++) {
		notices_cut(&paper.notices, &process, -ETIMEDOUT);
		notices_unopened(&paper.notices, &module);
		notices_without_tables(&paper.notices, &module);
		notices_out_of_files(&paper.notices);
		notices_unprobed(&paper.notices, &process, true, false);
	}
	assert_int_equal(paper_lines(&paper, "mappings of process 42 (target) are not all known"),
			 1);
	assert_int_equal(paper_lines(&paper, "file system of /lib/a.so does not answer"), 1);
	assert_int_equal(paper_lines(&paper, "stacks end in /lib/a.so"), 1);
	assert_int_equal(paper_lines(&paper, "open-file limit reached"), 1);
	assert_int_equal(paper_lines(&paper, "nothing is probed in process 42"), 1);
	/* Its next program is another matter. */
	process.warned_unprobed = false;
	notices_unprobed(&paper.notices, &process, true, true);
	assert_int_equal(paper_lines(&paper, "--usdt only"), 1);
	paper_close(&paper);
}

static void test_quiet(void **state)
{
	struct process process = { .target = { .pid = 42 } };
	struct module module = { .path = (char *)"/lib/a.so" };
	struct paper paper;
	int i;

	(void)state;
	paper_open(&paper);
	notices_unopened(&paper.notices, &module);
	notices_unprobed(&paper.notices, &process, false, false);
	notices_first_thread_ended(&paper.notices, &process);
	assert_false(notices_cut(&paper.notices, &process, 0));
	assert_int_equal(paper_lines(&paper, "\n"), 0);
	for (i = 0; i < 1000; i++)
		notices_late_file(&paper.notices, &process, "/lib/a.so", 1000);
	assert_int_equal(paper_lines(&paper, "\n"), 64);
	for (i = 0; i < 1000; i++)
		notices_missed_file(&paper.notices, &process, "/lib/b.so");
	assert_int_equal(paper_lines(&paper, "/lib/b.so: process 42"), 64);
	paper_close(&paper);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_quiet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
