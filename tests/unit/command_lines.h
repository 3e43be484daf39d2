/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command lines as texts, and commands that do nothing. */
#ifndef TESTS_COMMAND_LINES_H
#define TESTS_COMMAND_LINES_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "command/command_line.h"
#include "command/diff_options.h"
#include "command/help.h"
#include "command/leaks_options.h"
#include "command/mark_options.h"
#include "command/memory_options.h"
#include "command/options_table.h"
#include "command/plan_options.h"
#include "command/record_options.h"
#include "command/report_options.h"
#include "command/serve_options.h"
#include "command/top_options.h"
#include "command/trace_options.h"
#include "command/watch_options.h"
#include "render/render.h"

#define SECOND 1000000000ULL
#define WORDS_MAX 16

static inline int run_nothing(const struct options *options, const struct log *log)
{
	(void)options;
	(void)log;
	return 0;
}

/* Commands of our own, so that the parser is tested without the kernel. */
static const struct command trace = { .name = "trace",
				      .summary = "report what is in use",
				      .options = trace_options,
				      .arguments = trace_options_arguments,
				      .starts_program = true,
				      .check = trace_options_check,
				      .run = run_nothing };
static const struct command plan = { .name = "plan",
				     .summary = "print what would be probed",
				     .options = plan_options,
				     .arguments = plan_options_arguments,
				     .starts_program = true,
				     .check = plan_options_check,
				     .run = run_nothing };

static const struct command memory = { .name = "memory",
				       .summary = "print where memory is",
				       .options = memory_options,
				       .arguments = trace_options_arguments,
				       .writes = memory_options_writes,
				       .check = memory_options_check,
				       .run = run_nothing };

static const struct command leaks = { .name = "leaks",
				      .starts_program = true,
				      .summary = "print what nothing points to",
				      .options = leaks_options,
				      .notes = leaks_options_notes,
				      .arguments = leaks_options_arguments,
				      .writes = leaks_options_writes,
				      .check = leaks_options_check,
				      .run = run_nothing };

static const struct command record = { .name = "record",
				       .summary = "keep every interval",
				       .options = record_options,
				       .notes = record_options_notes,
				       .arguments = trace_options_arguments,
				       .starts_program = true,
				       .check = record_options_check,
				       .run = run_nothing };

static const struct command report = { .name = "report",
				       .summary = "print a moment of a recording",
				       .options = report_options,
				       .arguments = report_options_arguments,
				       .check = report_options_check,
				       .run = run_nothing };

static const struct command mark = { .name = "mark",
				     .summary = "name a moment of a recording",
				     .options = mark_options,
				     .arguments = mark_options_arguments,
				     .run = run_nothing };

static const struct command serve = { .name = "serve",
				      .summary = "serve reports",
				      .options = serve_options,
				      .notes = serve_options_notes,
				      .arguments = serve_options_arguments,
				      .starts_program = true,
				      .check = serve_options_check,
				      .run = run_nothing };
static const struct command top = { .name = "top",
				    .summary = "show it live",
				    .options = top_options,
				    .notes = top_options_notes,
				    .arguments = top_options_arguments,
				    .starts_program = true,
				    .check = top_options_check,
				    .run = run_nothing };

static const struct command watch = { .name = "watch",
				      .summary = "judge until it is sure",
				      .options = watch_options,
				      .notes = watch_options_notes,
				      .starts_program = true,
				      .arguments = leaks_options_arguments,
				      .writes = watch_options_writes,
				      .check = watch_options_check,
				      .run = run_nothing };

/* A command without a process. */
static const struct command diff = { .name = "diff",
				     .summary = "compare two files",
				     .options = diff_options,
				     .arguments = diff_options_arguments,
				     .writes = diff_options_writes,
				     .check = diff_options_check,
				     .run = run_nothing };

static const struct command *const commands[] = { &trace, &plan, &memory, &leaks, &record, &report,
						  &mark,  &diff, &serve,  &top,	  &watch,  NULL };

/* Does the command take another option of this name? */
static inline bool has_other_of_name(const struct command *command, const struct option_row *row)
{
	const struct command *const alone[] = { command, NULL };
	size_t i, count;
	const struct option_row **rows = command_line_rows(alone, &count);
	bool found = false;

	for (i = 0; i < count; i++)
		found |= rows[i] != row && !strcmp(rows[i]->name, row->name);
	free(rows);
	return found;
}

/* Splits `line` at blanks; a word "''" is an empty argument. Free *ret_copy and the result. */
static inline char **split(const char *line, int *ret_count, char **ret_copy)
{
	char **words = memory_alloc(WORDS_MAX + 2, sizeof(*words));
	char *place, *word;

	*ret_copy = memory_copy_string(line);
	words[0] = memory_copy_string("tracer");
	*ret_count = 1;
	for (word = strtok_r(*ret_copy, " ", &place); word; word = strtok_r(NULL, " ", &place)) {
		assert_true(*ret_count <= WORDS_MAX);
		words[(*ret_count)++] = strcmp(word, "''") ? word : word + 2;
	}
	return words;
}

/* A parsed line and the memory it points into. */
struct line {
	struct options options;
	struct error error;
	char **words;
	char *copy;
	int result;
};

static inline struct line parse(const char *text)
{
	struct line line = { 0 };
	int count;

	line.words = split(text, &count, &line.copy);
	memset(&line.options, 0xa5, sizeof(line.options));
	line.result = command_line_parse(count, line.words, commands, &line.options, &line.error);
	return line;
}

static inline void line_free(struct line *line)
{
	if (!line->result)
		options_free(&line->options);
	free(line->words[0]);
	free(line->words);
	free(line->copy);
}

static inline struct line parse_good(const char *text)
{
	struct line line = parse(text);

	if (line.result)
		print_error("'%s' was refused: %s\n", text, line.error.text);
	assert_int_equal(line.result, 0);
	assert_int_equal(line.error.kind, ERROR_NONE);
	return line;
}

#endif
