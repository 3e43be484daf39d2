/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See session_wanted.h. */
#include "command/session_wanted.h"

#include "command/table_limits.h"

struct session_options session_wanted_of(const struct options *options, const struct log *log)
{
	const enum backend *backend = options_find_backend(options);
	const struct table_limits limits = table_limits_find(options, log);

	return (struct session_options){
		.max_blocks = limits.blocks,
		.max_stacks = limits.stacks,
		.stack_depth = options->stack_depth,
		.min_size = options->min_size,
		.max_size = options->max_size,
		.min_age_ns = options->min_age_ns,
		.survived = options->survived,
		.budget = options->budget,
		.max_window_ns = options->max_window_ns,
		.divided = options->budget || options->light,
		.light = options->light,
		.no_return_probes = options->no_return_probes,
		.probe_at_entry = options->probe_at_entry,
		.select_once = options->wait,
		.tree = options->tree,
		.several = options->pid_count > 1,
		.force = options->force,
		.returns = (enum return_check)options->seccomp,
		.follow_fork = options->follow_fork,
		.keep_exited = options->keep_exited,
		.by_thread = options->by == GROUP_BY_THREAD,
		.by_frame_pointers = options->call_graph == CALL_GRAPH_FP,
		.backend_chosen = backend != NULL,
		.backend = backend ? *backend : BACKEND_KERNEL_SESSION,
		.named = &options->named,
		.usdt = options->light ? USDT_OFF : options->usdt,
		.log = log,
	};
}
