/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The help text, made from the tables of options, commands and formats. */
#include "command/help.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command_line.h"
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

static void help_option(struct buffer *out, const struct option_row *row)
{
	const char *argument = row->argument ? row->argument : "";
	char left[96];

	if (row->letter)
		snprintf(left, sizeof(left), "  -%c, --%s %s", row->letter, row->name, argument);
	else
		snprintf(left, sizeof(left), "      --%s %s", row->name, argument);
	help_line(out, left, row->help);
}

static void help_options(struct buffer *out, const struct command *const *commands,
			 const char *title, unsigned int testing)
{
	size_t i, count;
	const struct option_row **rows = command_line_rows(commands, &count);

	buffer_printf(out, "\n%s\n", title);
	for (i = 0; i < count; i++)
		if ((rows[i]->flags & OPTION_TESTING) == testing &&
		    !(rows[i]->flags & OPTION_ALIAS))
			help_option(out, rows[i]);
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

static void help_formats(struct buffer *out)
{
	const struct render_format *format;
	char left[96];

	buffer_append_string(out, "\nFormats:\n");
	for (format = render_format_list(); format->name; format++) {
		snprintf(left, sizeof(left), "  %s", format->name);
		help_line(out, left, format->description);
	}
}

void help_append(struct buffer *out, const struct command *const *commands, bool verbose)
{
	buffer_append_string(
		out,
		"Usage: tracer -p PID[,PID...] [OPTIONS] [INTERVAL [COUNT]]\n"
		"       tracer [OPTIONS] -- CMD [ARG...]\n"
		"       tracer --tree PID | --comm NAME | ... [OPTIONS] [INTERVAL [COUNT]]\n"
		"       tracer plan -p PID | --comm NAME | ... | -- CMD [ARG...]\n"
		"       tracer memory -p PID | --tree PID | ... [INTERVAL [COUNT]]\n"
		"       tracer leaks -p PID [-d TIME]\n"
		"       tracer watch -p PID [-d TIME]\n"
		"       tracer record -o FILE -p PID | ... | -- CMD [ARG...]\n"
		"       tracer report FILE [--at MOMENT | --from MOMENT --to MOMENT | --base ...]\n"
		"       tracer diff FILE[@MOMENT] FILE[@MOMENT] [FILE[@MOMENT]]\n"
		"       tracer mark FILE NAME\n"
		"       tracer top -p PID | --tree PID | -a | ... | -- CMD [ARG...] [INTERVAL]\n"
		"       tracer serve --listen ADDR -p PID | -a | ... | -- CMD [ARG...]\n"
		"\n"
		"Shows which call sites hold the memory that a process has allocated since the\n"
		"attach and not freed. A report every 5 s until Ctrl-C or the end of the "
		"process.\n");
	help_commands(out, commands);
	help_options(out, commands, "Options:", 0);
	if (verbose)
		help_options(out, commands, "Options for tests:", OPTION_TESTING);
	help_formats(out);
	buffer_append_string(
		out,
		"\nTimes are 500ms, 10s, 5m, 2h; a bare number is seconds.\n"
		"Sizes are 64, 64k, 1m, 2g: bytes, and powers of 1024.\n"
		"\n"
		"EXAMPLES\n"
		"  tracer -p 4242                 a report every 5 s\n"
		"  tracer -p 4242 2 5             five reports, two seconds apart\n"
		"  tracer -p 4242 -d 30s          one report after 30 s\n"
		"  tracer -p 4242 -d 30s -n 3 -j  the same, three sites, as JSON\n"
		"  tracer -p 4242,4243 -s alloc   two processes, busiest sites first\n"
		"  tracer -p 4242 --min-age 1m    leave out what may yet be freed soon\n"
		"  tracer -f -- ./server          a command; all its stacks for a flame graph\n"
		"  tracer --tree 4242             a master and its workers\n"
		"  tracer plan --comm puma        what would be traced; nothing is attached\n"
		"  tracer -p 4242 --when-rss 2g   one when it has 2 GiB, and one at the end\n"
		"  tracer record -p 4242 -o x.db  keep each interval in a file\n"
		"  tracer report x.db --at 2h     what was in use after two hours\n"
		"  tracer top -p 4242             live on the terminal; F1 has its keys\n"
		"  tracer serve --listen 127.0.0.1:9797 -a --budget 1%  for Prometheus, pprof\n"
		"  tracer diff x.db@10m @2h       what has grown between two moments of it\n"
		"  tracer diff x.db@a @b @c       what was born between a and b, and is left at c\n"
		"  tracer memory -p 4242          where its memory is; no probe\n"
		"  tracer memory -p 4242 10 6     what of it grows\n"
		"  tracer leaks -p 4242           blocks that nothing points to; no probe\n"
		"  tracer leaks -p 4242 -d 10m    with stacks, of blocks since then\n");
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
	else
		help_append(&text, commands, options->level == LOG_VERBOSE);
	result = output_write(&output, &text, &error);
	buffer_free(&text);
	return result && result != -EPIPE ? command_fail(log, &error) : 0;
}
