/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages: which are shown at which level, and that no message can be more than one safe line. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/log.h"

/* What is written when a message of each level is logged by a log of `level`. Free with free(). */
static char *log_all(enum log_level level)
{
	struct log log = { .level = level };
	char *text = NULL;
	size_t size = 0;

	log.stream = open_memstream(&text, &size);
	log_write(&log, LOG_ERROR, "error %d", 1);
	log_write(&log, LOG_NOTICE, "notice %d", 2);
	log_write(&log, LOG_VERBOSE, "verbose %d", 3);
	fclose(log.stream);
	return text;
}

static void assert_logs(enum log_level level, const char *expected)
{
	char *text = log_all(level);

	assert_string_equal(text, expected);
	free(text);
}

static void test_levels(void **state)
{
	(void)state;
	assert_logs(LOG_ERROR, "tracer: error 1\n");
	assert_logs(LOG_NOTICE, "tracer: error 1\ntracer: notice 2\n");
	assert_logs(LOG_VERBOSE, "tracer: error 1\ntracer: notice 2\ntracer: verbose 3\n");
}

static void test_one_safe_line(void **state)
{
	static const char expected[] = "tracer: a\\x1b]0;title\\x07\\x0ab\\xff\n";
	struct log log = { .level = LOG_NOTICE };
	char *text = NULL;
	size_t size = 0;

	(void)state;
	log.stream = open_memstream(&text, &size);
	log_write(&log, LOG_NOTICE, "%s", "a\033]0;title\007\nb\xff");
	fclose(log.stream);
	assert_string_equal(text, expected);
	free(text);
}

static void test_long_line_is_whole(void **state)
{
	struct log log = { .level = LOG_NOTICE };
	char name[5001];
	char *text = NULL;
	size_t size = 0;

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	log.stream = open_memstream(&text, &size);
	log_write(&log, LOG_NOTICE, "%s", name);
	fclose(log.stream);
	assert_int_equal(size, strlen("tracer: ") + strlen(name) + 1);
	free(text);
}

static void test_null_log(void **state)
{
	const struct log nowhere = { .stream = NULL, .level = LOG_VERBOSE };

	(void)state;
	log_write(NULL, LOG_ERROR, "swallowed");
	log_write(&nowhere, LOG_ERROR, "swallowed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_one_safe_line),
		cmocka_unit_test(test_long_line_is_whole),
		cmocka_unit_test(test_null_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
