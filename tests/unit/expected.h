/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparison with the expected outputs in tests/data, which were written down and read by a person, and the checker there. */
#ifndef TESTS_UNIT_EXPECTED_H
#define TESTS_UNIT_EXPECTED_H

#include <stdio.h>
#include <stdlib.h>

#define CHECKER "python3 tests/data/render/check_report.py"

static __attribute__((unused)) char *expected_read(const char *name)
{
	char path[256];
	char *text = NULL;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "tests/data/render/%s", name);
	file = fopen(path, "r");
	if (!file)
		fail_msg("cannot read %s", path);
	if (getdelim(&text, &size, '\0', file) < 0)
		fail_msg("%s is empty", path);
	fclose(file);
	return text;
}

static __attribute__((unused)) void assert_expected(const char *name, const char *text)
{
	char *expected = expected_read(name);

	assert_string_equal(text, expected);
	free(expected);
}

/*
 * Runs the checker on `text`, and returns how many reports it found right; -1 = one was wrong, and `where`
 * is a shell redirection for the reason.
 */
static __attribute__((unused)) int check_reports(const char *text, size_t length, const char *where)
{
	FILE *file = tmpfile();
	char command[128];
	int count = -1;
	FILE *checker;

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, length, file), length);
	rewind(file);
	snprintf(command, sizeof(command), CHECKER " <&%d %s", fileno(file), where);
	checker = popen(command, "r");
	assert_non_null(checker);
	if (fscanf(checker, "%d", &count) != 1)
		count = -1;
	if (pclose(checker))
		count = -1;
	fclose(file);
	return count;
}

#endif
