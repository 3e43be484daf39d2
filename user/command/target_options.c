/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See target_options.h. */
#include "command/target_options.h"

#include <errno.h>
#include <string.h>

#define USAGE(...) error_set(error, ERROR_USAGE, -EINVAL, __VA_ARGS__)

bool target_options_is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

size_t target_options_list(const struct options *options,
			   struct target_selection ret_given[TARGET_SELECTIONS])
{
	const struct target_selection all[TARGET_SELECTIONS] = {
		{ "--comm", options->comm },
		{ "--cmdline", options->command_line },
		{ "--user", options->arguments ? NULL : options->user },
		{ "--cgroup", options->cgroup },
		{ "--container", options->container },
		{ "--unit", options->unit },
	};
	size_t i, count = 0;

	for (i = 0; i < TARGET_SELECTIONS; i++)
		if (all[i].value)
			ret_given[count++] = all[i];
	return count;
}

/* The first option that selects by what processes are; NULL = none. */
static const char *target_selecting(const struct options *options)
{
	struct target_selection given[TARGET_SELECTIONS];

	return target_options_list(options, given) ? given[0].option : NULL;
}

bool target_options_selects(const struct options *options)
{
	return target_selecting(options) != NULL;
}

/* The ways to select targets. Puts the first two that were given into `ret_given`. */
static size_t target_count_given(const struct options *options, const char *ret_given[2])
{
	const char *const ways[] = {
		options->by_pid ? "-p" : NULL,	 options->arguments ? "'-- CMD'" : NULL,
		options->tree ? "--tree" : NULL, target_selecting(options),
		options->wait ? "-w" : NULL,	 options->all ? "-a" : NULL
	};
	size_t i, count = 0;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (!ways[i])
			continue;
		if (count < 2)
			ret_given[count] = ways[i];
		count++;
	}
	return count;
}

/* -w with a name selects; without, it waits for what else selects. */
static int target_check_wait(const struct options *options, const char *given, struct error *error)
{
	const char *selecting = target_selecting(options);

	if (options->wait && selecting)
		return USAGE("-w %s and %s exclude each other; '-w' without a name waits for what "
			     "%s selects",
			     options->wait, selecting, selecting);
	if (options->wait || selecting)
		return 0;
	if (given)
		return USAGE("there is nothing to wait for: -w and %s exclude each other", given);
	return USAGE("-w needs the name of a process to wait for, or another option that selects, "
		     "such as --cmdline");
}

int target_options_check(const struct command_line *line, const struct options *options,
			 struct error *error)
{
	const char *given[2] = { NULL };
	size_t count = target_count_given(options, given);
	int code = options->waits ? target_check_wait(options, given[0], error) : 0;

	if (code)
		return code;
	if (line->separated && !options->arguments)
		return USAGE("'--' must be followed by a command to start");
	if (options->arguments && !*options->arguments[0])
		return USAGE("the command after '--' is empty");
	if (options->has_error_exitcode && !options->arguments)
		return USAGE("--error-exitcode is of a command that is started: use it with "
			     "'-- CMD'");
	if (options->by_pid && options->arguments)
		return USAGE("-p and '-- %s' exclude each other: trace running processes or start "
			     "a command",
			     options->arguments[0]);
	if (count > 1)
		return USAGE("%s and %s exclude each other", given[0], given[1]);
	if (count)
		return 0;
	if (line->position_count && target_options_is_number(line->positions[0]))
		return USAGE("nothing to trace; did you mean 'tracer -p %s'?", line->positions[0]);
	return USAGE("nothing to trace: use 'tracer -p PID' for a running process or 'tracer -- "
		     "CMD' to start one ('tracer -h' explains)");
}
