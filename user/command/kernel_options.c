/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See kernel_options.h. */
#include "command/kernel_options.h"

#include <errno.h>

#include "command/target_options.h"

#define USAGE(...) error_set(error, ERROR_USAGE, -EINVAL, __VA_ARGS__)

/* Room for them in the kernel's table. */
#define MOST_PIDS 1024

int kernel_options_check_target(const struct command_line *line, const struct options *options,
				struct error *error)
{
	const char *other = options->arguments		      ? "'-- CMD'"
			    : options->tree		      ? "--tree"
			    : options->all		      ? "-a/--all"
			    : options->waits		      ? "-w/--wait"
			    : target_options_selects(options) ? "--comm and others that select"
							      : NULL;

	if (line->separated && !options->arguments)
		return USAGE("'--' must be followed by a command to start");
	if (other)
		return USAGE(
			"--kernel traces the kernel's own memory, all of it or with -p what was "
			"allocated while these processes ran: it excludes %s",
			other);
	if (options->pid_count > MOST_PIDS)
		return USAGE("--kernel takes at most %d processes", MOST_PIDS);
	return 0;
}

int kernel_options_check(struct options *options, struct error *error)
{
	const struct {
		bool given;
		const char *name;
	} others[] = {
		{ options->budget, "--budget" },
		{ options->light, "--light" },
		{ options->survived, "--survived" },
		{ options->follow_fork, "--follow-fork" },
		{ options->keep_exited, "--keep-exited" },
		{ options->when_rss, "--when-rss" },
		{ options->when_growth_bytes, "--when-growth" },
		{ options->on_oom, "--on-oom" },
		{ options->exec, "--exec" },
		{ options->has_error_exitcode, "--error-exitcode" },
		{ options->named.count, "--alloc, --realloc and --free" },
		{ options->usdt == USDT_ONLY, "--usdt=only" },
		{ options->no_return_probes, "--no-return-probes" },
		{ options->sort == SORT_TEMPORARY, "--sort temporary" },
		{ options->by != GROUP_BY_STACK && options->by != GROUP_BY_FUNCTION &&
			  options->by != GROUP_BY_PROCESS && options->by != GROUP_BY_DEFAULT,
		  "this --by" },
	};
	size_t i;

	if (!options->kernel)
		return 0;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i].given)
			return USAGE("%s is for processes, and --kernel traces the kernel's own "
				     "memory: leave one of them out",
				     others[i].name);
	if (options->by == GROUP_BY_DEFAULT)
		options->by = GROUP_BY_STACK;
	return 0;
}
