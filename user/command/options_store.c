/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See options_store.h. */
#include "command/options_store.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pattern.h"
#include "base/units.h"

static void options_store_add_pid(struct options *options, int pid)
{
	size_t i;

	for (i = 0; i < options->pid_count; i++)
		if (options->pids[i] == pid)
			return;
	options->pids = memory_grow(options->pids, options->pid_count, &options->pid_capacity,
				    sizeof(*options->pids));
	options->pids[options->pid_count++] = pid;
}

static int options_store_add_pids(const struct option_row *row, const char *text,
				  struct options *options, struct error *error)
{
	const char *const all = text;
	const char *end;
	char item[16];
	uint64_t pid;

	for (;; text = end + 1) {
		end = strchrnul(text, ',');
		snprintf(item, sizeof(item), "%.*s", (int)(end - text), text);
		if ((size_t)(end - text) >= sizeof(item) ||
		    !units_parse_number(item, INT_MAX, &pid) || !pid)
			return option_row_refuse(row, all, "process IDs such as 4242 or 4242,4243",
						 error);
		options_store_add_pid(options, (int)pid);
		if (!*end)
			return 0;
	}
}

int options_store_pids(const struct option_row *row, const char *text, struct options *options,
		       struct error *error)
{
	options->by_pid = true;
	return options_store_add_pids(row, text, options, error);
}

int options_store_tree(const struct option_row *row, const char *text, struct options *options,
		       struct error *error)
{
	options->tree = true;
	return options_store_add_pids(row, text, options, error);
}

/* Compiled only to find out whether it can be: what is wrong with the command line comes before anything else. */
int options_store_pattern(const struct option_row *row, const char *text, struct options *options,
			  struct error *error)
{
	struct pattern pattern;
	int code = pattern_compile(text, &pattern, error);

	if (code)
		return code;
	pattern_free(&pattern);
	return option_row_store_text(row, text, options, error);
}

int options_store_wait(const struct option_row *row, const char *text, struct options *options,
		       struct error *error)
{
	options->waits = true;
	return text ? option_row_store_text(row, text, options, error) : 0;
}
