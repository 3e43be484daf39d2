/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the command line to a command, and from its end to the exit status. */
#include <stdio.h>

#include "command/command_line.h"
#include "command/help.h"
#include "decode/fork_server.h"
#include "decode/worker.h"
#include "system/stdio.h"

static const struct command *const commands[] = { &command_trace, &command_plan,   &command_memory,
						  &command_leaks, &command_record, &command_report,
						  &command_diff,  &command_mark,   &command_serve,
						  &command_top,	  &command_watch,  NULL };

int main(int argc, char **argv)
{
	struct log log = { .stream = stderr, .level = LOG_NOTICE };
	struct options options;
	struct error error = { 0 };
	int status;

	/* Without a message where there may be none to write it to. */
	if (stdio_occupy())
		return ERROR_PERMISSION;
	fork_server_main(argv, worker_run);
	if (command_line_parse(argc, argv, commands, &options, &error))
		return command_fail(&log, &error);
	log.level = options.level;
	if (options.action == ACTION_RUN)
		status = options.command->run(&options, &log);
	else
		status = help_inform(&options, commands, &log);
	options_free(&options);
	return status;
}
