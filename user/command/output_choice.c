/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See output_choice.h. */
#include "command/output_choice.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "render/render.h"

int output_choice_open(struct output *output, const struct options *options, const int *pids,
		       size_t pid_count, bool *ret_color, struct error *error)
{
	char *host = output_host(), *path = NULL;
	const struct output_names names = {
		.pids = pids, .pid_count = pid_count, .time = (int64_t)time(NULL), .host = host
	};
	int code;

	if (options->output)
		path = output_expand(options->output, &names);
	code = output_open(output, path, error);
	if (!code && options->format->binary && output_is_terminal(output))
		code = error_set(
			error, ERROR_USAGE, -EINVAL,
			"a report of the format %s is not for a terminal: -o FILE writes it "
			"to a file",
			options->format->name);
	if (!code)
		*ret_color = options_use_color(options->color, output_is_terminal(output),
					       getenv("NO_COLOR"), getenv("TERM"));
	free(path);
	free(host);
	return code;
}
