/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of options: the one place that says which there are. Parsing and the help text follow from it. */
#ifndef COMMAND_OPTIONS_TABLE_H
#define COMMAND_OPTIONS_TABLE_H

#include "command/options.h"

/* Longest time on a command line: beyond any use, and adding two to a clock cannot overflow. */
#define OPTIONS_TIME_MAX_NS (1ULL << 61)

enum option_flag {
	OPTION_ANY_COMMAND = 1, /* not only for the default command */
	OPTION_TESTING = 2, /* shown in the verbose help text only */
	OPTION_ALIAS = 4, /* another name of an option; not in the help text */
};

struct option_row {
	const char *name; /* without the dashes */
	char letter; /* 0 = none */
	const char *argument; /* as the help text names it; NULL = the option takes none */
	const char *help;
	/*
	 * Put the meaning of `text` (NULL if the option takes no argument) into `options`. Returns 0 or
	 * -EINVAL with `error` filled.
	 */
	int (*store)(const struct option_row *row, const char *text, struct options *options,
		     struct error *error);
	size_t field; /* offset in struct options */
	uint64_t min, max; /* of a number, a size or a time */
	unsigned int value; /* of an option without argument */
	const char *const *words; /* the allowed ones, ended by NULL; their position is the value */
	unsigned int flags; /* enum option_flag */
};

/* The rows in the order of the help text; `*ret_count` gets their number. */
const struct option_row *options_table(size_t *ret_count);

/* The options as they are before the first argument is read. */
void options_set_defaults(struct options *options);

#define OPTION_LABEL_MAX 32
/* "-p/--pid" or "--min-age", for sentences. Returns `text`. */
const char *option_label(const struct option_row *row, char text[OPTION_LABEL_MAX]);

#endif
