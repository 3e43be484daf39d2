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

/* The options that select targets. Puts the first two that were given into `ret_given`. */
static size_t target_count_given(const struct options *options, const char *ret_given[2])
{
	const char *const ways[] = { options->pid_count ? "-p" : NULL,
				     options->arguments ? "'-- CMD'" : NULL,
				     options->comm ? "--comm" : NULL,
				     options->cgroup ? "--cgroup" : NULL,
				     options->container ? "--container" : NULL,
				     options->wait ? "-w" : NULL,
				     options->all ? "-a" : NULL };
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

int target_options_check(const struct command_line *line, const struct options *options,
			 struct error *error)
{
	const char *given[2];
	size_t count = target_count_given(options, given);

	if (line->separated && !options->arguments)
		return USAGE("'--' must be followed by a command to start");
	if (options->arguments && !*options->arguments[0])
		return USAGE("the command after '--' is empty");
	if (options->user && !options->arguments)
		return USAGE("-u/--user is for a command to start: 'tracer -u %s -- CMD'",
			     options->user);
	if (options->pid_count && options->arguments)
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
