/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The help text, made from the tables of options, commands and formats. */
#include "command/help.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command_line.h"
#include "command/completion.h"
#include "command/help_pages.h"
#include "command/output.h"
#include "render/render.h"

/* Where the explanations begin, counted from 0. */
#define HELP_COLUMN 26

/* "  -p, --pid PID[,PID...]" and its explanation, on a line of its own where the first part is long. */
static void help_line(struct buffer *out, const char *left, const char *right)
{
	buffer_printf(out, "%-*s", HELP_COLUMN - 1, left);
	if (strlen(left) >= HELP_COLUMN)
		buffer_printf(out, "\n%*s", HELP_COLUMN - 1, "");
	buffer_printf(out, " %s\n", right);
}

static void help_option(struct buffer *out, const struct command *command,
			const struct option_row *row)
{
	const char *argument = row->argument ? row->argument : "";
	char left[96];

	if (row->letter)
		snprintf(left, sizeof(left), "  -%c, --%s %s", row->letter, row->name, argument);
	else
		snprintf(left, sizeof(left), "      --%s %s", row->name, argument);
	help_line(out, left, command_help_of(command, row));
}

/* The options of a command, or those of them that are for tests. */
static void help_options(struct buffer *out, const struct command *command, const char *title,
			 unsigned int testing)
{
	const struct command *const alone[] = { command, NULL };
	bool any = false;
	size_t i, count;
	const struct option_row **rows = command_line_rows(alone, &count);

	for (i = 0; i < count; i++) {
		if ((rows[i]->flags & OPTION_TESTING) != testing || rows[i]->flags & OPTION_ALIAS)
			continue;
		if (!any)
			buffer_printf(out, "\n%s\n", title);
		help_option(out, command, rows[i]);
		any = true;
	}
	free(rows);
}

static void help_commands(struct buffer *out, const struct command *const *commands)
{
	char left[96];

	buffer_append_string(out, "\nCommands:\n");
	for (; *commands; commands++) {
		snprintf(left, sizeof(left), "  %s", (*commands)->name);
		help_line(out, left, (*commands)->summary);
	}
}

/* Does the command take an option with an argument of this name? */
static bool help_has_argument(const struct command *command, const char *name)
{
	const struct option_list *const *list;
	const struct option_row *row;

	for (list = command->options; *list; list++)
		for (row = (*list)->rows; row < (*list)->rows + (*list)->count; row++)
			if (row->argument && strstr(row->argument, name) &&
			    command_takes(command, row))
				return true;
	return false;
}

static void help_formats(struct buffer *out, const struct command *command)
{
	const struct render_format *format;
	char left[96];

	buffer_append_string(out, "\nFormats:\n");
	for (format = render_format_list(); format->name; format++) {
		if (command->writes && !command->writes(format))
			continue;
		snprintf(left, sizeof(left), "  %s", format->name);
		help_line(out, left, format->description);
	}
}

/* How arguments are written that the command has. */
static void help_units(struct buffer *out, const struct command *command)
{
	const bool times = help_has_argument(command, "TIME") || command->arguments[0].optional;
	const bool sizes = help_has_argument(command, "SIZE");

	if (times || sizes)
		buffer_append_string(out, "\n");
	if (times)
		buffer_append_string(out,
				     "Times are 500ms, 10s, 5m, 2h; a bare number is seconds.\n");
	if (sizes)
		buffer_append_string(out,
				     "Sizes are 64, 64k, 1m, 2g: bytes, and powers of 1024.\n");
}

/* "Usage: ...", each way on a line. */
static void help_usage(struct buffer *out, const struct help_page *page)
{
	const char *line, *end;

	for (line = page->usage; (end = strchr(line, '\n')); line = end + 1)
		buffer_printf(out, "%s%.*s\n", line == page->usage ? "Usage: " : "       ",
			      (int)(end - line), line);
	buffer_printf(out, "\n%s", page->about);
}

/* Those of the command; the overview has one of each other command, too. */
static void help_examples(struct buffer *out, const struct command *const *commands,
			  const struct command *command)
{
	const bool is_overview = command == commands[0];
	const struct help_page *page;

	buffer_append_string(out, "\nEXAMPLES\n");
	for (; *commands; commands++) {
		page = help_pages_find((*commands)->name);
		if (page && *commands == command)
			buffer_append_string(out, page->examples);
		else if (page && is_overview)
			buffer_printf(out, "%.*s\n", (int)strcspn(page->examples, "\n"),
				      page->examples);
	}
}

void help_append(struct buffer *out, const struct command *const *commands,
		 const struct command *command, bool verbose)
{
	const struct help_page *page = help_pages_find(command->name);

	if (page)
		help_usage(out, page);
	if (command == commands[0])
		help_commands(out, commands);
	help_options(out, command, "Options:", 0);
	if (verbose)
		help_options(out, command, "Options for tests:", OPTION_TESTING);
	if (help_has_argument(command, "FORMAT"))
		help_formats(out, command);
	help_units(out, command);
	if (page)
		help_examples(out, commands, command);
}

int help_inform(const struct options *options, const struct command *const *commands,
		const struct log *log)
{
	struct output output = OUTPUT_STDOUT;
	struct error error = { 0 };
	struct buffer text = { 0 };
	int result;

	if (options->action == ACTION_VERSION)
		buffer_append_string(&text, "tracer " TRACER_VERSION "\n");
	else if (options->action == ACTION_COMPLETION)
		completion_append(&text, commands, options->shell);
	else
		help_append(&text, commands, options->command, options->level == LOG_VERBOSE);
	result = output_write(&output, &text, &error);
	buffer_free(&text);
	return result && result != -EPIPE ? command_fail(log, &error) : 0;
}
