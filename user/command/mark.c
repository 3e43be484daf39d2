/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `tracer mark`: gives this moment of a recording that goes on a name. */
#include <time.h>

#include "base/units.h"
#include "command/command.h"
#include "command/mark_options.h"
#include "recording/marker.h"

/* How often it is asked whether the mark is set; after so many times, the user learns what is waited for. */
#define LOOK_NS 10000000
#define LOOKS_QUIET 200

static int mark_wait(struct marker *marker, const struct log *log, uint64_t *ret_after_ns,
		     struct error *error)
{
	const struct timespec rest = { .tv_nsec = LOOK_NS };
	unsigned int looks;
	int code;

	for (looks = 1; !(code = marker_look(marker, ret_after_ns, error)); looks++) {
		if (looks == LOOKS_QUIET)
			log_write(log, LOG_NOTICE,
				  "waiting for the tracer that writes the recording (Ctrl-C: no "
				  "longer)");
		nanosleep(&rest, NULL);
	}
	return code < 0 ? code : 0;
}

static int mark_run(const struct options *options, const struct log *log)
{
	char after[UNITS_TEXT_MAX];
	struct error error = { 0 };
	struct marker marker;
	uint64_t after_ns = 0;
	int code = marker_open(&marker, options->recording, options->mark, &error);

	if (!code)
		code = mark_wait(&marker, log, &after_ns, &error);
	marker_close(&marker);
	if (code)
		return command_fail(log, &error);
	log_write(log, LOG_NOTICE, "mark '%s' is set, %s after the beginning", options->mark,
		  units_format_time(after_ns, after));
	return 0;
}

const struct command command_mark = {
	.name = "mark",
	.summary = "give this moment of a recording a name",
	.options = mark_options,
	.arguments = mark_options_arguments,
	.run = mark_run,
};
