/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a command line: arguments separated by NUL. What is accepted must obey the rules that the rest
 * of the program builds on.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "command/command_line.h"
#include "command/help.h"
#include "command/plan_options.h"
#include "command/target_options.h"
#include "command/trace_options.h"
#include "fuzz.h"

#define WORDS_MAX 32

static const struct command trace = { .name = "trace",
				      .options = trace_options,
				      .arguments = trace_options_arguments,
				      .starts_program = true,
				      .check = trace_options_check };
static const struct command plan = { .name = "plan",
				     .options = plan_options,
				     .arguments = plan_options_arguments,
				     .starts_program = true,
				     .check = plan_options_check };
static const struct command *const commands[] = { &trace, &plan, NULL };

static void check_accepted(const struct options *options)
{
	size_t i;

	MUST(options->format);
	if (options->action != ACTION_RUN)
		return;
	/* One way to select processes, by however many options; of the kernel's memory, pids or none. */
	MUST((options->pid_count > 0) + (options->arguments != NULL) +
		     target_options_selects(options) + (options->wait != NULL) + options->all ==
	     (options->kernel ? options->pid_count > 0 : 1));
	MUST((options->pid_count > 0) == (options->by_pid || options->tree));
	MUST(!options->by_pid || !options->tree);
	MUST(!options->waits || options->wait || target_options_selects(options));
	for (i = 0; i < options->pid_count; i++)
		MUST(options->pids[i] > 0);
	MUST(!options->arguments || options->arguments[0]);
	MUST(!options->duration_ns || !options->interval_ns);
	MUST(options->min_size <= options->max_size);
	MUST(options->stack_depth >= 1 && options->stack_depth <= STACK_FRAMES_MAX);
	/* 0: as many as memory allows. */
	MUST(!options->max_stacks || options->max_stacks >= 16);
	MUST(options->interval_ns + options->duration_ns <= 1ULL << 62);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = memory_alloc(size + 1, 1), *at;
	char name[] = "tracer", *words[WORDS_MAX + 2] = { name };
	struct options options;
	struct error error = { 0 };
	int count = 1;

	if (size)
		memcpy(copy, data, size);
	for (at = copy; at < copy + size && count <= WORDS_MAX; at += strlen(at) + 1)
		words[count++] = at;
	if (command_line_parse(count, words, commands, &options, &error)) {
		MUST(error.kind == ERROR_USAGE && error.text[0]);
	} else {
		MUST(error.kind == ERROR_NONE);
		check_accepted(&options);
		options_free(&options);
	}
	free(copy);
	return 0;
}
