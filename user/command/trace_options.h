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

/* Also for other commands that repeat: parse an interval between two reports. */
int trace_options_store_interval(const struct command_line *line, const char *text,
				 struct options *options, struct error *error);

/* Also for other commands that trace in windows: check what --budget excludes. */
int trace_options_check_budget(const struct options *options, struct error *error);

/* Also for other commands that plan probes: check what --light excludes. */
int trace_options_check_light(const struct options *options, struct error *error);

/*
 * Also for other commands that trace: check the rules of what is counted, and set defaults of what
 * is followed and how often.
 */
int trace_options_check_blocks(const struct options *options, struct error *error);
void trace_options_set_defaults(struct options *options);

/*
 * Also for other commands that report: check the rules of formats, and set the defaults that depend
 * on the format.
 */
int trace_options_check_format(const struct options *options, struct error *error);
void trace_options_set_format_defaults(struct options *options);

#endif
