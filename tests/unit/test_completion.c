/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scripts of the shells have what the tables have, and no text of a table ends a quote. What shells do with them is tested by
 * tests/live/test_completion.py.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "command/completion.h"
#include "command/completion_kind.h"
#include "unit/command_lines.h"

static char *script_of(const struct command *const *list, enum options_shell shell)
{
	struct buffer text = { 0 };

	completion_append(&text, list, shell);
	return text.data;
}

/* Each option that the help text has is in each script, and no other one is offered. */
static void test_options(void **state)
{
	char *bash = script_of(commands, SHELL_BASH), *zsh = script_of(commands, SHELL_ZSH);
	char *fish = script_of(commands, SHELL_FISH);
	size_t i, count;
	const struct option_row **rows = command_line_rows(commands, &count);

	(void)state;
	for (i = 0; i < count; i++) {
		char *in_bash = memory_format(" --%s ", rows[i]->name);
		char *at_end = memory_format(" --%s\"", rows[i]->name);
		char *in_zsh =
			memory_format("'*--%s%s[", rows[i]->name, rows[i]->argument ? "=" : "");
		char *in_fish = memory_format("' -l %s ", rows[i]->name);
		const bool offered = !(rows[i]->flags & (OPTION_TESTING | OPTION_ALIAS));

		assert_int_equal(strstr(bash, in_bash) || strstr(bash, at_end), offered);
		assert_int_equal(strstr(zsh, in_zsh) != NULL, offered);
		assert_int_equal(strstr(fish, in_fish) != NULL, offered);
		free(in_bash);
		free(at_end);
		free(in_zsh);
		free(in_fish);
	}
	free(rows);
	free(bash);
	free(zsh);
	free(fish);
}

/* The part of a script that is a command's: from "NAME)" and `begin` to `end`. Free with free(). */
static char *part_of(const char *script, const struct command *command, const char *begin,
		     const char *end)
{
	char *start = memory_format("\t%s)%s", command->name, begin);
	const char *place = strstr(script, start);
	char *part;

	assert_non_null(place);
	place += strlen(start);
	assert_non_null(strstr(place, end));
	part = memory_format("%.*s", (int)(strstr(place, end) - place), place);
	free(start);
	return part;
}

/* A command is offered what its help text lists, and nothing that it refuses. */
static void test_options_of_commands(void **state)
{
	char *bash = script_of(commands, SHELL_BASH), *zsh = script_of(commands, SHELL_ZSH);
	char *fish = script_of(commands, SHELL_FISH);
	const struct command *const *command;
	size_t i, count;
	const struct option_row **rows = command_line_rows(commands, &count);

	(void)state;
	for (command = commands; *command; command++) {
		struct buffer help = { 0 };
		char *in_bash = part_of(bash, *command, " echo \"", "\" ;;");
		char *in_zsh = part_of(zsh, *command, "\n\t\t_arguments", "\n\t\t;;");

		help_append(&help, commands, *command, false);
		for (i = 0; i < count; i++) {
			char *word = memory_format(" --%s", rows[i]->name);
			char *listed = rows[i]->letter
					       ? memory_format("\n  -%c,%s ", rows[i]->letter, word)
					       : memory_format("\n     %s ", word);
			char *form = memory_format("'*--%s%s[", rows[i]->name,
						   rows[i]->argument ? "=" : "");
			const bool is_listed = strstr(help.data, listed);
			const char *place = strstr(in_bash, word);

			while (place && place[strlen(word)] != ' ' && place[strlen(word)])
				place = strstr(place + 1, word);
			/* Of two options of one name, one is taken. */
			if (!has_other_of_name(*command, rows[i]) &&
			    (is_listed != !!place || is_listed != !!strstr(in_zsh, form)))
				fail_msg("'tracer %s -h' and completions differ: --%s",
					 (*command)->name, rows[i]->name);
			free(form);
			free(listed);
			free(word);
		}
		buffer_free(&help);
		free(in_bash);
		free(in_zsh);
	}
	/* Of the formats, too. */
	assert_non_null(strstr(bash, "\twatch\\ --format) _tracer_words text json ;;\n"));
	assert_non_null(strstr(fish, "'__tracer_is watch' -l format"));
	assert_non_null(strstr(fish, "'__tracer_is top' -l top -s n"));
	free(rows);
	free(bash);
	free(zsh);
	free(fish);
}

static const struct option_row *row_named(const struct option_list *list, const char *name)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (!strcmp(list->rows[i].name, name))
			return &list->rows[i];
	fail_msg("no option --%s", name);
	return NULL;
}

static void test_kinds(void **state)
{
	static const struct {
		const struct option_list *list;
		const char *name;
		enum completion_kind kind;
	} rows[] = {
		{ &options_table_target, "pid", COMPLETE_PID_LIST },
		{ &options_table_target, "tree", COMPLETE_PIDS },
		{ &options_table_target, "comm", COMPLETE_PROCESS_NAMES },
		{ &options_table_target, "user", COMPLETE_USERS },
		{ &options_table_target, "unit", COMPLETE_NOTHING },
		{ &options_table_follow, "wait", COMPLETE_PROCESS_NAMES },
		{ &options_table_look, "wait", COMPLETE_NOTHING },
		{ &options_table_file, "output", COMPLETE_FILES },
		{ &options_table_record, "debug-dir", COMPLETE_DIRECTORIES },
		{ &options_table_report, "sort", COMPLETE_WORDS },
		{ &options_table_output, "format", COMPLETE_WORDS },
		{ &options_table_top, "top", COMPLETE_NOTHING },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(completion_kind_of(row_named(rows[i].list, rows[i].name)),
				 rows[i].kind);
}

/* What is offered is accepted. */
static void test_words(void **state)
{
	const struct option_row *row = row_named(&options_table_output, "format");
	struct buffer words = { 0 };
	char *word, *place;
	size_t count = 0;

	(void)state;
	completion_append_words(&words, NULL, row);
	for (word = strtok_r(words.data, " ", &place); word; word = strtok_r(NULL, " ", &place)) {
		assert_non_null(render_format_find(word));
		count++;
	}
	assert_true(count >= 7);
	buffer_clear(&words);
	completion_append_words(&words, &trace, row_named(&options_table_general, "color"));
	assert_string_equal(words.data, "auto always never");
	buffer_free(&words);
}

static void test_quotes(void **state)
{
	static const struct option_row rows[] = { { .name = "odd",
						    .argument = "A:B",
						    .help = "it's [this]: \\ $x `y`",
						    .store = option_row_store_text } };
	static const struct option_list list = { rows, 1 };
	static const struct option_list *const lists[] = { &list, NULL };
	static const struct command odd = { .name = "odd",
					    .summary = "what's: this",
					    .options = lists,
					    .arguments = trace_options_arguments };
	static const struct command *const alone[] = { &odd, NULL };
	char *zsh = script_of(alone, SHELL_ZSH), *fish = script_of(alone, SHELL_FISH);

	(void)state;
	assert_non_null(strstr(zsh, "'*--odd=[it'\\''s \\[this\\]\\: \\\\ $x `y`]:A\\:B: '"));
	assert_non_null(strstr(zsh, "'odd:what'\\''s\\: this'"));
	assert_non_null(strstr(fish, "-d 'it\\'s [this]: \\\\ $x `y`'\n"));
	assert_non_null(strstr(fish, "-d 'what\\'s: this'\n"));
	free(zsh);
	free(fish);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options), cmocka_unit_test(test_options_of_commands),
		cmocka_unit_test(test_kinds),	cmocka_unit_test(test_words),
		cmocka_unit_test(test_quotes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
