/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See candidates.h. */
#include "command/candidates.h"

#include <stdlib.h>

#include "command/selection.h"
#include "discover/descendants.h"
#include "render/columns.h"
#include "system/command_text.h"
#include "system/proc.h"

#define ROW "%7s  %-15s  %s\n"
#define NAME_COLUMN 9
#define COMMAND_COLUMN (NAME_COLUMN + 17)

static int candidate_compare(const void *a, const void *b)
{
	const pid_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static int candidates_select(const struct options *options, struct pid_list *list,
			     struct error *error)
{
	struct selector selector = { 0 };
	struct pid_list all = { 0 };
	int code = selection_read(options, &selector, error);
	size_t i;

	if (!code && selector.kind != SELECT_NONE) {
		selector_list(&selector, &all);
		for (i = 0; i < all.count; i++)
			if (selector_has(&selector, all.pids[i]))
				pid_list_add(list, all.pids[i]);
		if (!list->count)
			code = selection_refuse(options, "", error);
	}
	pid_list_free(&all);
	selector_free(&selector);
	return code;
}

int candidates_find(const struct options *options, struct pid_list *list, struct error *error)
{
	int code = candidates_select(options, list, error);
	size_t i;

	if (code || options->arguments)
		return code;
	for (i = 0; i < options->pid_count; i++)
		pid_list_add(list, options->pids[i]);
	for (i = 0; i < options->pid_count && options->tree; i++)
		descendants_list(options->pids[i], list);
	if (list->count)
		qsort(list->pids, list->count, sizeof(*list->pids), candidate_compare);
	return 0;
}

static void candidates_describe_one(pid_t pid, size_t width, struct buffer *out)
{
	struct proc_status status;
	size_t used;
	char *text;

	if (proc_read_status("/proc", pid, &status))
		return;
	text = command_text_read(pid);
	buffer_printf(out, "%7d  ", pid);
	used = columns_append_start(out, status.comm, sizeof(status.comm) - 1);
	if (text) {
		columns_pad(out, NAME_COLUMN + used, COMMAND_COLUMN);
		columns_append_start(out, text,
				     width == COLUMNS_ANY ? width : width - COMMAND_COLUMN);
	}
	buffer_append_string(out, "\n");
	free(text);
}

void candidates_describe(const struct pid_list *list, size_t width, struct buffer *out)
{
	size_t i;

	buffer_printf(out, "%zu process%s would be traced:\n\n", list->count,
		      list->count == 1 ? "" : "es");
	buffer_printf(out, ROW, "PID", "NAME", "COMMAND");
	for (i = 0; i < list->count; i++)
		candidates_describe_one(list->pids[i], width, out);
	buffer_append_string(out, "\n");
}
