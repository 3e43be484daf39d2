/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `tracer trace` takes. */
#ifndef COMMAND_TRACE_OPTIONS_H
#define COMMAND_TRACE_OPTIONS_H

#include "command/command.h"

/* For struct command. */
extern const struct option_list *const trace_options[];
extern const struct argument_row trace_options_arguments[]; /* [INTERVAL [COUNT]] */
int trace_options_check(const struct command_line *line, struct options *options,
			struct error *error);

/* For commands that show something again and again, too: an interval between two reports. */
int trace_options_store_interval(const struct command_line *line, const char *text,
				 struct options *options, struct error *error);

/* For commands that trace in windows, too: what --budget excludes. */
int trace_options_check_budget(const struct options *options, struct error *error);

/* For commands that plan what is probed, too: what --light excludes. */
int trace_options_check_light(const struct options *options, struct error *error);

/* For commands that trace, too: the rules of what is counted, and what is followed and how often if nothing else is asked for. */
int trace_options_check_blocks(const struct options *options, struct error *error);
void trace_options_set_defaults(struct options *options);

/* For commands that report, too: the rules of formats, and what depends on these. */
int trace_options_check_format(const struct options *options, struct error *error);
void trace_options_set_format_defaults(struct options *options);

#endif
