/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See comparison.h. */
#include "command/comparison.h"

#include <errno.h>
#include <stdlib.h>

#include "command/command.h"
#include "command/reporter.h"
#include "render/difference.h"

/* What is not the same in all cannot be compared: rows of a JSON report are stacks, unless that was asked for otherwise. */
static void comparison_choose_rows(const struct comparand *comparands, size_t count,
				   struct options *options)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (comparands[i].is_json && options->by == GROUP_BY_DEFAULT)
			options->by = GROUP_BY_STACK;
}

static int comparison_write(const struct difference *difference, const struct options *options,
			    const struct log *log, struct error *error)
{
	struct reporter reporter = { .log = log, .output.fd = -1 };
	struct render_difference_options style = {
		.base = { .frames = reporter_frames(options),
			  .verbose = options->level == LOG_VERBOSE,
			  .paths = options->paths },
		.top = options->top,
	};
	struct buffer text = { 0 };
	int code = reporter_open(&reporter, options, NULL, 0, error);

	if (!code) {
		style.base.color = reporter.color;
		output_size(&reporter.output, getenv("COLUMNS"), &style.base.columns,
			    &style.base.lines);
		options->format->render_difference(difference, &style, &text);
		code = output_write(&reporter.output, &text, error);
	}
	if (reporter_close(&reporter, error) && !code)
		code = -EIO;
	buffer_free(&text);
	return code;
}

/* Windows see some blocks only: of three moments, nobody knows which were born between two. */
static int comparison_check_windows(const struct profile *profiles, size_t count,
				    struct error *error)
{
	if (!profiles[0].windows)
		return 0;
	if (!profiles[count - 1].windows)
		return error_set(
			error, ERROR_USAGE, -EINVAL,
			"estimates of --budget, of what has grown since tracing began, can "
			"be compared with a later moment of the same recording only");
	if (count == 3)
		return error_set(
			error, ERROR_USAGE, -EINVAL,
			"what was born after the first moment and is in use at the third "
			"is not known with --budget: windows see the births of some blocks "
			"only; of two moments there is what sites have grown by");
	return 0;
}

int comparison_run(const struct comparand *comparands, size_t count, const struct options *options,
		   const struct log *log)
{
	struct profile profiles[DIFFERENCE_PROFILES_MAX] = { 0 };
	const struct profile *pointers[DIFFERENCE_PROFILES_MAX];
	struct options wanted = *options;
	struct difference *difference;
	struct error error = { 0 };
	int code = 0;
	uint64_t inuse_bytes = 0;
	size_t i;

	output_ignore_signals();
	comparison_choose_rows(comparands, count, &wanted);
	for (i = 0; i < count && !code; i++) {
		pointers[i] = &profiles[i];
		code = comparand_read(&comparands[i], i ? &comparands[0] : NULL, &wanted,
				      &profiles[i], &error);
	}
	if (!code)
		code = comparison_check_windows(profiles, count, &error);
	if (!code) {
		difference = difference_new(pointers, count);
		code = comparison_write(difference, &wanted, log, &error);
		difference_free(difference);
		inuse_bytes = profile_inuse_bytes(&profiles[count - 1].totals);
	}
	for (i = 0; i < count; i++)
		profile_free(&profiles[i]);
	if (code && code != -EPIPE)
		return command_fail(log, &error);
	return inuse_bytes > options->fail_over ? 1 : 0;
}
