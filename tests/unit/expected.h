/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparison with the expected outputs in tests/data. They were written down and read by a person. */
#ifndef TESTS_UNIT_EXPECTED_H
#define TESTS_UNIT_EXPECTED_H

#include <stdio.h>
#include <stdlib.h>

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

#endif
