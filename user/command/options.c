/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See options.h. */
#include "command/options.h"

#include <stdlib.h>
#include <string.h>

#include "render/render.h"

void options_set_defaults(struct options *options)
{
	*options = (struct options){
		.top = OPTIONS_TOP_DEFAULT,
		.frames = OPTIONS_FRAMES_DEFAULT,
		.by = GROUP_BY_DEFAULT,
		.sort = SORT_AUTO,
		.schema = 1,
		.max_size = UINT64_MAX,
		.stack_depth = STACK_FRAMES_MAX,
		.fail_over = UINT64_MAX,
		.error_exitcode = 1,
		.max_window_ns = 20000000,
		.deadline_ns = 10000000000ULL,
		.max_memory = 1ULL << 30,
		.level = LOG_NOTICE,
	};
}

const enum backend *options_find_backend(const struct options *options)
{
	static const enum backend backends[] = { [BACKEND_SESSION] = BACKEND_KERNEL_SESSION,
						 [BACKEND_MULTI] = BACKEND_KERNEL_MULTI,
						 [BACKEND_PERF] = BACKEND_KERNEL_PERF,
						 [BACKEND_IOCTL] = BACKEND_KERNEL_IOCTL };

	return options->backend == BACKEND_AUTO ? NULL : &backends[options->backend];
}

bool options_have_triggers(const struct options *options)
{
	return options->when_rss || options->when_growth_bytes || options->on_oom || options->exec;
}

void options_free(struct options *options)
{
	if (!options)
		return;
	free(options->pids);
	named_list_free(&options->named);
	frame_rules_free(&options->rules);
	options->pids = NULL;
	options->pid_count = options->pid_capacity = 0;
}

bool options_use_color(enum options_color color, bool terminal, const char *no_color,
		       const char *term)
{
	if (color != COLOR_AUTO)
		return color == COLOR_ALWAYS;
	if (no_color && *no_color)
		return false;
	return terminal && term && *term && strcmp(term, "dumb") != 0;
}
