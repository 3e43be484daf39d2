/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See naming.h. */
#include "command/naming.h"

#include <stdlib.h>

#include "system/end_signals.h"

struct symbolizer *naming_start(const struct options *options, const struct module_list *modules)
{
	const struct symbolizer_options wanted = { .debug_directory = options->debug_directory,
						   .debuginfod = options->debuginfod,
						   .is_over = end_signals_are_urgent };

	return symbolizer_new(modules, &wanted);
}

static const struct symbol_list *naming_lookup(void *context, const struct frame *frame)
{
	return symbolizer_lookup(context, frame);
}

static const char *naming_hint(void *context, const struct frame *frame)
{
	return symbolizer_hint(context, frame);
}

struct report_names naming_of(struct symbolizer *symbolizer)
{
	return (struct report_names){ .lookup = naming_lookup,
				      .context = symbolizer,
				      .hint = naming_hint };
}

void naming_complain(struct symbolizer *symbolizer, const struct log *log)
{
	enum log_level level;
	char *complaint;

	while ((complaint = symbolizer_take_complaint(symbolizer, &level))) {
		log_write(log, level, "%s", complaint);
		free(complaint);
	}
	complaint = symbolizer_take_unfit(symbolizer);
	if (complaint)
		log_write(log, LOG_NOTICE, "%s", complaint);
	free(complaint);
}
