/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See completion_case.h. */
#include "command/completion_case.h"

#include <string.h>

void completion_case_append_option(struct buffer *out, const struct option_row *row,
				   const char *before)
{
	if (row->letter)
		buffer_printf(out, "%s-%c | ", before, row->letter);
	buffer_printf(out, "%s--%s", before, row->name);
}

/* Is it the first one of its name? Only one of them can be meant. */
static bool completion_case_is_first(const struct option_row *const *rows, size_t place)
{
	size_t i;

	for (i = 0; i < place; i++)
		if (!strcmp(rows[i]->name, rows[place]->name))
			return false;
	return true;
}

void completion_case_append_takes(struct buffer *out, const struct option_row *const *rows,
				  size_t count)
{
	size_t i;

	buffer_append_string(out, "\n_tracer_takes_argument()\n{\n\tcase $1 in\n");
	for (i = 0; i < count; i++) {
		if (!rows[i]->argument || !completion_case_is_first(rows, i))
			continue;
		buffer_append_string(out, "\t");
		completion_case_append_option(out, rows[i], "");
		buffer_append_string(out, ") ;;\n");
	}
	buffer_append_string(out, "\t*) return 1 ;;\n\tesac\n}\n");
}

void completion_case_append_property(struct buffer *out, const struct command *const *commands,
				     const char *name, bool (*has)(const struct command *command))
{
	buffer_printf(out, "\n%s()\n{\n\tcase $1 in\n", name);
	for (; *commands; commands++)
		if (has(*commands))
			buffer_printf(out, "\t%s) ;;\n", (*commands)->name);
	buffer_append_string(out, "\t*) return 1 ;;\n\tesac\n}\n");
}
