/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The help texts have what the tables of options have, and fit a terminal. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/command_lines.h"

/* May a command line have both rows? Then only their names distinguish them. */
static bool one_command_takes(const struct option_row *a, const struct option_row *b)
{
	const struct command *const *command;
	const struct option_list *const *list;
	int taken;

	for (command = commands; *command; command++) {
		taken = 0;
		for (list = (*command)->options; *list; list++) {
			taken += a >= (*list)->rows && a < (*list)->rows + (*list)->count;
			taken += b >= (*list)->rows && b < (*list)->rows + (*list)->count;
		}
		if (taken == 2)
			return true;
	}
	return false;
}

/* Every row of the table must be reachable by its name and its letter, and be listed in the help text. */
static void test_table_and_help_agree(void **state)
{
	struct buffer brief = { 0 }, verbose = { 0 };
	size_t i, j, count;
	const struct option_row **rows = command_line_rows(commands, &count);

	(void)state;
	help_append(&brief, commands, false);
	help_append(&verbose, commands, true);
	assert_true(count >= 40); /* all lists are in it, not one command's alone */
	for (i = 0; i < count; i++) {
		char *name = memory_format("--%s ", rows[i]->name);
		bool testing = rows[i]->flags & OPTION_TESTING;
		bool alias = rows[i]->flags & OPTION_ALIAS;

		assert_int_equal(!strstr(brief.data, name), testing || alias);
		assert_int_equal(!strstr(verbose.data, name), alias);
		assert_non_null(rows[i]->help);
		assert_non_null(rows[i]->store);
		for (j = 0; j < i; j++) {
			assert_true(strcmp(rows[i]->name, rows[j]->name) != 0 ||
				    !one_command_takes(rows[i], rows[j]));
			assert_true(!rows[i]->letter || rows[i]->letter != rows[j]->letter);
		}
		free(name);
	}
	free(rows);
	buffer_free(&brief);
	buffer_free(&verbose);
}

/* 80 columns, as terminals have; each example must be a command line that is accepted. */
static void test_help_fits_and_is_true(void **state)
{
	struct buffer text = { 0 };
	char *line, *place;
	bool examples = false;
	int tried = 0;

	(void)state;
	help_append(&text, commands, true);
	for (line = strtok_r(text.data, "\n", &place); line; line = strtok_r(NULL, "\n", &place)) {
		if (strlen(line) > 80)
			print_error("too long: %s\n", line);
		assert_true(strlen(line) <= 80);
		if (examples) {
			char *end = strstr(line + 2, "  ");
			struct line parsed;

			assert_non_null(end);
			*end = '\0';
			assert_memory_equal(line, "  tracer ", 9);
			parsed = parse_good(line + 9);
			line_free(&parsed);
			tried++;
		}
		examples |= !strcmp(line, "EXAMPLES");
	}
	assert_true(tried >= 5);
	buffer_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_and_help_agree),
		cmocka_unit_test(test_help_fits_and_is_true),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
