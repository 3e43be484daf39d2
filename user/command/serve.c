/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `tracer serve`: trace as `tracer` does, and give reports by HTTP to who asks. */
#include "command/command.h"
#include "command/serve_options.h"
#include "command/server.h"
#include "command/trace.h"

static int serve_run(const struct options *options, const struct log *log)
{
	struct error error = { 0 };
	struct server server;
	int status = 0;

	if (server_open(&server, options, log, &error))
		status = command_fail(log, &error);
	else
		status = trace_serve(options, log, &server);
	server_close(&server);
	return status;
}

const struct command command_serve = {
	.name = "serve",
	.summary = "trace, and serve reports by HTTP: Prometheus, pprof",
	.options = serve_options,
	.notes = serve_options_notes,
	.arguments = serve_options_arguments,
	.starts_program = true,
	.check = serve_options_check,
	.run = serve_run,
};
