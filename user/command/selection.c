/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See selection.h. */
#include "command/selection.h"

#include <errno.h>

#include "command/target_options.h"
#include "system/user.h"

static int selection_read_some(const struct options *options, struct selector *selector,
			       struct error *error)
{
	int code = 0;

	selector->kind = SELECT_SOME;
	selector->name = options->comm ? options->comm : options->wait;
	if (options->command_line)
		code = pattern_compile(options->command_line, &selector->command, error);
	if (!code && options->user) {
		selector->by_user = true;
		code = user_find_id("/etc", options->user, &selector->user, error);
	}
	return code;
}

static int selection_read_groups(const struct options *options, struct selector *selector,
				 struct error *error)
{
	struct error missing = { 0 };
	int code;

	selector->groups[SELECT_CGROUP] = options->cgroup;
	selector->groups[SELECT_CONTAINER] = options->container;
	selector->groups[SELECT_UNIT] = options->unit;
	code = selector_find_groups(selector, &missing);
	if (!code || (options->waits && missing.kind == ERROR_TARGET))
		return 0;
	return error_set(error, missing.kind, code, "%s", missing.text);
}

int selection_read(const struct options *options, struct selector *selector, struct error *error)
{
	int code;

	if (options->arguments)
		return 0;
	if (options->all)
		selector->kind = SELECT_ALL;
	if (!options->wait && !target_options_selects(options))
		return 0;
	code = selection_read_some(options, selector, error);
	return code ? code : selection_read_groups(options, selector, error);
}

/* Append the options that select, as they are typed: "--comm puma --user www-data". */
static void selection_describe(const struct options *options, struct buffer *out)
{
	struct target_selection given[TARGET_SELECTIONS];
	size_t count = target_options_list(options, given), i;

	for (i = 0; i < count; i++)
		buffer_printf(out, "%s%s %s", out->length ? " " : "", given[i].option,
			      given[i].value);
}

int selection_refuse(const struct options *options, const char *hint, struct error *error)
{
	struct buffer given = { 0 };

	selection_describe(options, &given);
	error_set(error, ERROR_TARGET, -ESRCH, "no process matches %s%s", given.data, hint);
	buffer_free(&given);
	return -ESRCH;
}

static void selection_describe_wait(const struct options *options, struct buffer *out)
{
	struct buffer given = { 0 };

	selection_describe(options, &given);
	buffer_printf(out, options->wait ? "a process named %s" : "a process that matches %s",
		      options->wait ? options->wait : given.data);
	buffer_free(&given);
}

void selection_log_wait(const struct options *options, const struct log *log)
{
	struct buffer text = { 0 };

	selection_describe_wait(options, &text);
	log_write(log, LOG_NOTICE, "waiting for %s", text.data);
	buffer_free(&text);
}

int selection_refuse_wait(const struct options *options, struct error *error)
{
	struct buffer text = { 0 };

	selection_describe_wait(options, &text);
	error_set(error, ERROR_TARGET, -ESRCH, "%s has not appeared", text.data);
	buffer_free(&text);
	return -ESRCH;
}
