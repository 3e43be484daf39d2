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

/* The text of a command; free with free(). */
static char *text_of(const struct command *command, bool verbose)
{
	struct buffer text = { 0 };

	help_append(&text, commands, command, verbose);
	return text.data;
}

/* A row must be in the text of a command if the command takes it, and nowhere else. */
static void check_row(const struct command *command, const struct option_row *row)
{
	char *brief = text_of(command, false), *verbose = text_of(command, true);
	char *name = row->letter ? memory_format("\n  -%c, --%s ", row->letter, row->name)
				 : memory_format("\n      --%s ", row->name);
	const bool takes = command_takes(command, row), testing = row->flags & OPTION_TESTING;
	const bool alias = row->flags & OPTION_ALIAS;

	/* Of two rows of one name, another command has the other one. */
	if (takes || (strcmp(row->name, "wait") != 0 && strcmp(row->name, "since") != 0)) {
		assert_int_equal(!strstr(brief, name), !takes || testing || alias);
		assert_int_equal(!strstr(verbose, name), !takes || alias);
		assert_true(!takes || alias || strstr(verbose, command_help_of(command, row)));
	}
	free(name);
	free(verbose);
	free(brief);
}

/* Every row of the table must be reachable by its name and its letter, and be listed in the help text of who takes it. */
static void test_table_and_help_agree(void **state)
{
	const struct command *const *command;
	size_t i, j, count;
	const struct option_row **rows = command_line_rows(commands, &count);

	(void)state;
	assert_true(count >= 40); /* all lists are in it, not one command's alone */
	for (i = 0; i < count; i++) {
		assert_non_null(rows[i]->help);
		assert_non_null(rows[i]->store);
		for (command = commands; *command; command++)
			check_row(*command, rows[i]);
		for (j = 0; j < i; j++) {
			assert_true(strcmp(rows[i]->name, rows[j]->name) != 0 ||
				    !one_command_takes(rows[i], rows[j]));
			assert_true(!rows[i]->letter || rows[i]->letter != rows[j]->letter);
		}
	}
	free(rows);
}

/* A line of EXAMPLES must be a command line of this command that is accepted; of the overview, of any. */
static void check_example(const struct command *command, char *line)
{
	char *end = strstr(line + 2, "  ");
	struct line parsed;

	assert_non_null(end);
	*end = '\0';
	assert_memory_equal(line, "  tracer ", 9);
	parsed = parse_good(line + 9);
	if (command != commands[0])
		assert_ptr_equal(parsed.options.command, command);
	line_free(&parsed);
}

/* 80 columns, as terminals have. */
static int check_text(const struct command *command)
{
	char *text = text_of(command, true), *line, *place;
	bool examples = false;
	int tried = 0;

	for (line = strtok_r(text, "\n", &place); line; line = strtok_r(NULL, "\n", &place)) {
		if (strlen(line) > 80)
			print_error("too long: %s\n", line);
		assert_true(strlen(line) <= 80);
		if (examples)
			check_example(command, line);
		tried += examples;
		examples |= !strcmp(line, "EXAMPLES");
	}
	free(text);
	return tried;
}

static void test_help_fits_and_is_true(void **state)
{
	const struct command *const *command;

	(void)state;
	for (command = commands; *command; command++)
		assert_true(check_text(*command) >= 1);
	/* The overview has one of each. */
	assert_true(check_text(commands[0]) > (int)(command - commands));
}

/* The text begins with a line that may be typed, and the overview leads to the others. */
static void test_usage(void **state)
{
	const struct command *const *command;
	char *overview = text_of(commands[0], false), *text, *usage;

	(void)state;
	for (command = commands + 1; *command; command++) {
		text = text_of(*command, false);
		usage = memory_format("Usage: tracer %s ", (*command)->name);
		assert_memory_equal(text, usage, strlen(usage));
		assert_null(strstr(text, "\nCommands:\n"));
		assert_non_null(strstr(overview, (*command)->summary));
		free(usage);
		free(text);
	}
	assert_memory_equal(overview, "Usage: tracer -p PID", 20);
	assert_non_null(strstr(overview, "tracer COMMAND -h"));
	free(overview);
}

/* Those formats are listed that --format accepts. */
static void test_formats(void **state)
{
	static const struct {
		const struct command *command;
		const char *line;
	} rows[] = { { &memory, "memory -p 1 --format " },
		     { &leaks, "leaks -p 1 --format " },
		     { &diff, "diff a b --format " } };
	const struct render_format *format;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = text_of(rows[i].command, false);

		for (format = render_format_list(); format->name; format++) {
			char *typed = memory_format("%s%s", rows[i].line, format->name);
			struct line line = parse(typed);

			assert_int_equal(!strstr(text, format->description), line.result != 0);
			line_free(&line);
			free(typed);
		}
		free(text);
	}
}

/* A line of each command that is accepted, without what selects processes, and that. */
static const struct {
	const struct command *command;
	const char *line, *target;
} bases[] = {
	{ &trace, "", "-p 1" },
	{ &plan, "plan", "-p 1" },
	{ &memory, "memory", "-p 1" },
	{ &leaks, "leaks -d 5", "-p 1" },
	{ &record, "record -o x", "-p 1" },
	{ &report, "report x", "" },
	{ &mark, "mark x y", "" },
	{ &diff, "diff a b", "" },
	{ &serve, "serve --listen 127.0.0.1:80", "-p 1" },
	{ &top, "top", "-p 1" },
	{ &watch, "watch", "-p 1" },
};

#define BASES (sizeof(bases) / sizeof(bases[0]))

/* Options that need others, or an argument of a form of its own. */
static const struct {
	const char *name, *words;
} samples[] = {
	{ "alloc", "--alloc a:b:size=arg1" },
	{ "at", "--at 1s" },
	{ "base", "--base 1s" },
	{ "budget", "--budget=1%" },
	{ "completion", "--completion bash" },
	{ "error-exitcode", "--error-exitcode 64 -- true" },
	{ "empty", "--empty --schema 2 -j -n 0" },
	{ "exec", "--exec x -o y --when-rss 1g" },
	{ "format", "--format json" },
	{ "free", "--free a:b:ptr=arg1 --alloc a:b:size=arg1" },
	{ "from", "--from 1s" },
	{ "heuristics", "--heuristics newarray" },
	{ "listen", "--listen 127.0.0.1:80" },
	{ "max-pause", "--max-pause 100ms --pause" },
	{ "otlp", "--otlp http://127.0.0.1:4318" },
	{ "otlp-interval", "--otlp-interval 1s --otlp http://127.0.0.1:4318" },
	{ "schema", "--schema 2 -j" },
	{ "show", "--show all" },
	{ "survived", "--survived 2gc" },
	{ "to", "--to 2s --from 1s" },
	{ "when-growth", "--when-growth 10m/min" },
	{ "who", "--who 0x1000" },
};

/* The option as it may be typed, alone or with what it needs. Free with free(). */
static char *sample_of(const struct option_row *row, bool alone)
{
	const char *value = "x";
	size_t i;

	for (i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		if (!alone && !strcmp(samples[i].name, row->name))
			return memory_copy_string(samples[i].words);
	if (!row->argument)
		return memory_format("--%s", row->name);
	if (row->words)
		value = row->words[0];
	else if (strstr(row->argument, "PID") || !strcmp(row->argument, "N"))
		value = "64";
	else if (!strcmp(row->argument, "TIME"))
		value = "100ms";
	else if (!strcmp(row->argument, "SIZE"))
		value = "64m";
	return memory_format("--%s=%s", row->name, value);
}

/* Does the row say which processes? Then -p must not. */
static bool is_target(const struct option_row *row)
{
	return (row >= options_table_target.rows &&
		row < options_table_target.rows + options_table_target.count) ||
	       !strcmp(row->name, "kernel") || !strcmp(row->name, "error-exitcode") ||
	       (!strcmp(row->name, "wait") && row->flags & OPTION_OPTIONAL);
}

/* What the help text of a command lists is accepted, and an option of others is refused, by words that name it. */
static void test_listed_is_accepted(void **state)
{
	size_t i, j, count, taken = 0;
	const struct option_row **rows = command_line_rows(commands, &count);

	(void)state;
	for (i = 0; i < BASES; i++) {
		for (j = 0; j < count; j++) {
			const bool takes = command_takes(bases[i].command, rows[j]);
			char *sample = sample_of(rows[j], !takes);
			char *text = memory_format("%s %s %s", bases[i].line,
						   is_target(rows[j]) ? "" : bases[i].target,
						   sample);
			struct line line = parse(text);

			/* Of two options of one name, that of the command is meant. */
			if (has_other_of_name(bases[i].command, rows[j]))
				goto next;
			if (takes == !!line.result)
				fail_msg("'%s': %s", text,
					 line.result ? line.error.text
						     : "accepted, and not listed");
			if (line.result && !strstr(line.error.text, rows[j]->name))
				fail_msg("'%s': no --%s in '%s'", text, rows[j]->name,
					 line.error.text);
			taken += takes;
		next:
			line_free(&line);
			free(text);
			free(sample);
		}
	}
	assert_true(taken > 2 * count);
	free(rows);
}

/* The help text of -n has the number that is taken without it, for the format that people read. */
static void test_rows_by_default(void **state)
{
	const struct option_row *row = options_table_top.rows;
	size_t i, found = 0;

	(void)state;
	for (i = 0; i < BASES; i++) {
		char *text, *number;
		struct line line;

		if (!command_takes(bases[i].command, row))
			continue;
		text = memory_format("%s %s", bases[i].line, bases[i].target);
		line = parse_good(text);
		if (bases[i].command == &serve) {
			line.options.format = render_format_find("text");
			serve_options_set_format_defaults(&line.options);
		}
		number = memory_format("(%llu); 0 = all", (unsigned long long)line.options.top);
		assert_non_null(strstr(command_help_of(bases[i].command, row), number));
		found++;
		free(number);
		line_free(&line);
		free(text);
	}
	assert_true(found >= 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_and_help_agree),
		cmocka_unit_test(test_help_fits_and_is_true),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_listed_is_accepted),
		cmocka_unit_test(test_rows_by_default),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
