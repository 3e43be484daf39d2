/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See selection.h. */
#include "command/selection.h"

#include <errno.h>
#include <stdlib.h>

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

static int selection_read_group(const struct options *options, struct selector *selector,
				struct error *error)
{
	struct error missing = { 0 };
	int code;

	selector->group = options->cgroup      ? SELECT_CGROUP
			  : options->container ? SELECT_CONTAINER
			  : options->unit      ? SELECT_UNIT
					       : SELECT_ANY_GROUP;
	selector->group_name = options->cgroup	    ? options->cgroup
			       : options->container ? options->container
						    : options->unit;
	code = selector_find_group(selector, &missing);
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
	return code ? code : selection_read_group(options, selector, error);
}

void selection_describe(const struct options *options, struct buffer *out)
{
	const struct {
		const char *option, *value;
	} given[] = {
		{ "--comm", options->comm },	       { "--cmdline", options->command_line },
		{ "--user", options->user },	       { "--cgroup", options->cgroup },
		{ "--container", options->container }, { "--unit", options->unit },
	};
	size_t i;

	for (i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		if (given[i].value)
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

void selection_describe_wait(const struct options *options, struct buffer *out)
{
	struct buffer given = { 0 };

	selection_describe(options, &given);
	buffer_printf(out, options->wait ? "a process named %s" : "a process that matches %s",
		      options->wait ? options->wait : given.data);
	buffer_free(&given);
}

int selection_refuse_wait(const struct options *options, struct error *error)
{
	struct buffer text = { 0 };

	selection_describe_wait(options, &text);
	error_set(error, ERROR_TARGET, -ESRCH, "%s has not appeared", text.data);
	buffer_free(&text);
	return -ESRCH;
}
