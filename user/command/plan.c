/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `tracer plan`: what would be probed, where and why, and what a trap costs here. Attaches nothing to targets. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "command/candidates.h"
#include "command/command.h"
#include "command/listing.h"
#include "command/output.h"
#include "command/plan_options.h"
#include "command/price_notice.h"
#include "decode/decoder.h"
#include "decode/plan_module.h"
#include "discover/module_finder.h"
#include "discover/process.h"
#include "kernel/trap_meter.h"
#include "probe/plan.h"
#include "render/columns.h"
#include "render/text_style.h"
#include "windows/light_plan.h"
#include "system/loader.h"
#include "system/proc.h"
#include "system/spawn.h"

/* How long the measurement of traps may take. */
#define TRAPS_MS 5000

/* Of processes that are `named`, each must be there; others may have ended by now, or (-EACCES) may not be looked at. */
static int plan_find_process(struct module_list *modules, pid_t pid, bool named,
			     struct error *error)
{
	struct error refused = { 0 };
	struct process *process;
	int code = process_open(pid, &process, &refused);

	if (code && !named && refused.kind == ERROR_TARGET)
		return 0;
	if (code)
		return error_set(error, refused.kind, code, "%s", refused.text);
	if (named && process_check_translator(process, error)) {
		process_free(process);
		return -ENOTSUP;
	}
	code = process->translator ? 0 : process_scan(process, modules, 0);
	process_free(process);
	if (code == -ESRCH && !named)
		return 0;
	if (code)
		return error_set(error, ERROR_TARGET, code,
				 "cannot read the mappings of process %d: %s", pid,
				 strerror(-code));
	return 0;
}

/* The command is not run: the system's loader lists its libraries, without privileges. */
static int plan_find_command(struct module_list *modules, struct decoder *decoder,
			     const struct options *options, struct error *error)
{
	char *program = spawn_find(options->arguments[0], error), **paths = NULL;
	size_t count = 0, i;
	int code;

	if (!program)
		return -ENOENT;
	code = listing_read(options, decoder, program, false, &paths, &count, error);
	for (i = 0; i < count && !code; i++)
		module_find_path(modules, 0, paths[i]);
	loader_list_free(paths, count);
	free(program);
	return code;
}

/* Of processes that were not named, those that may not be looked at are taken from the list, if there are others. */
static int plan_find_modules(const struct options *options, struct pid_list *list,
			     struct module_list *modules, const struct log *log,
			     struct error *error)
{
	const size_t all = list->count;
	pid_t refused = 0;
	size_t i, kept = 0;
	int code = 0;

	for (i = 0; i < all && !code; i++) {
		code = plan_find_process(modules, list->pids[i], options->pid_count, error);
		if (code == -EACCES && !options->pid_count && (kept || i + 1 < all)) {
			refused = list->pids[i];
			code = 0;
		} else {
			list->pids[kept++] = list->pids[i];
		}
	}
	if (code || kept == all)
		return code;
	list->count = kept;
	log_write(log, LOG_NOTICE,
		  "%zu of %zu processes may not be looked at, such as %d: they are left out",
		  all - kept, all, refused);
	return 0;
}

/* How probes would be attached here. */
struct attaching {
	int code; /* 0, or the negative errno of why that is not known */
	struct kernel_features features;
	enum backend backend;
	struct error error;
};

static void plan_find_attaching(const struct options *options, struct attaching *ret)
{
	*ret = (struct attaching){ 0 };
	ret->code = kernel_features_probe(&ret->features, &ret->error);
	if (!ret->code)
		ret->code = backend_choose(&ret->features, options_find_backend(options),
					   &ret->backend, &ret->error);
}

/* What a trap costs here, measured in a process of the tracer's own, or why that is not known. */
static void plan_append_price(const struct attaching *attaching, struct buffer *text)
{
	struct trap_meter meter = { 0 };
	struct trap_costs costs;
	int code = attaching->code;

	if (!code) {
		trap_meter_start(&meter, attaching->backend, &attaching->features.traps);
		code = trap_meter_read(&meter, TRAPS_MS, &costs);
	}
	trap_meter_close(&meter);
	if (!code)
		price_notice_traps(&costs, backend_name(attaching->backend), text);
	else
		buffer_printf(text, "What a trap costs here is not known: %s\n",
			      attaching->error.text[0] ? attaching->error.text : strerror(-code));
}

/* What the lists do not show of tracing with --light. */
static void plan_append_light(const struct plan *plan, struct buffer *text)
{
	buffer_append_string(text, "\nlight: functions that only free are not probed; what is in "
				   "use is read from the heap.\n");
	if (plan_is_inside(plan))
		buffer_append_string(
			text,
			"Probes inside of a function and its return probe are compared first; "
			"then one of them is taken out:\nthe return probe where all calls had "
			"the same result, or else those inside.\n");
}

static int plan_print(const struct plan *plan, const struct pid_list *list,
		      const struct options *options, const struct attaching *attaching,
		      struct error *error)
{
	struct output output = OUTPUT_STDOUT;
	struct buffer text = { 0 }, note = { 0 };
	int code;

	if (list->count)
		candidates_describe(
			list, options->level == LOG_VERBOSE ? COLUMNS_ANY : RENDER_COLUMNS, &text);
	plan_summarize(plan, 0, &note);
	if (note.length)
		buffer_printf(&text, "%s\n\n", note.data);
	buffer_clear(&note);
	plan_describe(plan, &text);
	if (plan_describe_overlap(plan, &note))
		buffer_printf(&text, "\n%s\n", note.data);
	buffer_clear(&note);
	if (plan_describe_switching(plan, &note))
		buffer_printf(&text, "\n%s\n", note.data);
	buffer_free(&note);
	if (options->light && plan->count)
		plan_append_light(plan, &text);
	if (plan->count) {
		buffer_append_string(&text, "\n");
		plan_append_price(attaching, &text);
	}
	output_ignore_signals();
	code = output_write(&output, &text, error);
	buffer_free(&text);
	return code == -EPIPE ? 0 : code;
}

/* As tracing would have it. */
static struct plan_options plan_choose(const struct options *options,
				       const struct attaching *attaching)
{
	return (struct plan_options){
		.features = probe_features_running(),
		.free_without_stack = true,
		.at_entry = options->probe_at_entry,
		.no_return_probes = options->no_return_probes,
		.seek_walkers = true,
		.avoid_switching = options->backend >= BACKEND_MULTI,
		.named = &options->named,
		.light = options->light,
		.inside = options->light && !attaching->code &&
			  attaching->backend == BACKEND_KERNEL_SESSION,
		.usdt = options->light ? USDT_OFF : options->usdt,
	};
}

static int plan_run(const struct options *options, const struct log *log)
{
	struct plan_options wanted;
	struct attaching attaching;
	struct module_list modules = { 0 };
	struct error error = { 0 };
	struct decoder *decoder = decoder_new(false, NULL);
	struct pid_list list = { 0 };
	struct plan plan;
	size_t i;
	int code = proc_check("/proc", getpid(), &error);

	if (!code)
		code = candidates_find(options, &list, &error);
	if (!code)
		code = options->arguments
			       ? plan_find_command(&modules, decoder, options, &error)
			       : plan_find_modules(options, &list, &modules, log, &error);
	plan_find_attaching(options, &attaching);
	wanted = plan_choose(options, &attaching);
	plan_init(&plan, &modules, &wanted);
	for (i = 0; i < modules.count && !code; i++)
		plan_add_module(&plan, decoder, (uint32_t)i);
	if (!code)
		code = plan_print(&plan, &list, options, &attaching, &error);
	if (!code)
		code = plan_check(&plan, log, &error);
	if (!code && options->light)
		code = light_plan_check(&plan, &error);
	plan_free(&plan);
	pid_list_free(&list);
	decoder_free(decoder);
	module_list_free(&modules);
	return code ? command_fail(log, &error) : 0;
}

const struct command command_plan = {
	.name = "plan",
	.summary = "print what would be probed and why; attach nothing",
	.options = plan_options,
	.arguments = plan_options_arguments,
	.starts_program = true,
	.check = plan_options_check,
	.run = plan_run,
};
