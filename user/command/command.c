/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all commands share: how an error ends the program, and the answers to -V and -h. */
#include "command/command.h"

#include <errno.h>

#include "base/buffer.h"
#include "command/output.h"

int command_fail(const struct log *log, const struct error *error)
{
	/* An error without a kind is a defect of ours: it still must not look like success. */
	if (error->kind == ERROR_NONE) {
		log_write(log, LOG_ERROR, "internal error: a failure without a reason");
		return ERROR_PERMISSION;
	}
	log_write(log, LOG_ERROR, "%s", error->text);
	return (int)error->kind;
}

int command_inform(const struct options *options, const struct command *const *commands,
		   const struct log *log)
{
	struct output output = OUTPUT_STDOUT;
	struct error error = { 0 };
	struct buffer text = { 0 };
	int result;

	if (options->action == ACTION_VERSION)
		buffer_append_string(&text, "tracer " TRACER_VERSION "\n");
	else
		options_help(&text, commands, options->level == LOG_VERBOSE);
	result = output_write(&output, &text, &error);
	buffer_free(&text);
	return result && result != -EPIPE ? command_fail(log, &error) : 0;
}
