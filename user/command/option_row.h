/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An option of the command line as data: its name, its help text, and how its argument is read and stored. */
#ifndef COMMAND_OPTION_ROW_H
#define COMMAND_OPTION_ROW_H

#include "command/options.h"

/* Longest time on a command line: beyond any use, and adding two to a clock cannot overflow. */
#define OPTION_TIME_MAX_NS (1ULL << 61)

enum option_flag {
	OPTION_TESTING = 1, /* shown in the verbose help text only */
	OPTION_ALIAS = 2, /* another name of an option; not in the help text */
	OPTION_OPTIONAL = 4, /* its argument may be left out where an option or nothing follows */
};

struct option_row {
	const char *name; /* without the dashes */
	char letter; /* 0 = none */
	const char *argument; /* as the help text names it; NULL = the option takes none */
	const char *help;
	/*
	 * Put the meaning of `text` (NULL if the option takes, or got, no argument) into `options`. Returns 0 or
	 * -EINVAL with `error` filled.
	 */
	int (*store)(const struct option_row *row, const char *text, struct options *options,
		     struct error *error);
	size_t field; /* offset in struct options */
	uint64_t min, max; /* of a number, a size or a time */
	unsigned int value; /* of an option without argument */
	const char *const *words; /* the allowed ones by their values, ended by NULL */
	unsigned int flags; /* enum option_flag */
};

/* Options that belong together, in the order of the help text. Commands take whole lists. */
struct option_list {
	const struct option_row *rows;
	size_t count;
};

#define OPTION_LABEL_MAX 32
/* "-p/--pid" or "--min-age", for sentences. Returns `text`. */
const char *option_row_label(const struct option_row *row, char text[OPTION_LABEL_MAX]);

/* Refuse an argument that is not what the option takes: `wanted`. Returns -EINVAL. */
int option_row_refuse(const struct option_row *row, const char *text, const char *wanted,
		      struct error *error);

/* For `store`. What they store into: a uint64_t. */
int option_row_store_number(const struct option_row *row, const char *text, struct options *options,
			    struct error *error);
int option_row_store_size(const struct option_row *row, const char *text, struct options *options,
			  struct error *error);
int option_row_store_time(const struct option_row *row, const char *text, struct options *options,
			  struct error *error);
/* An enum: the value of one of `words`; `value`. */
int option_row_store_word(const struct option_row *row, const char *text, struct options *options,
			  struct error *error);
int option_row_store_value(const struct option_row *row, const char *text, struct options *options,
			   struct error *error);
/* A bool. */
int option_row_store_true(const struct option_row *row, const char *text, struct options *options,
			  struct error *error);
/* A const char *, which points to the argument. */
int option_row_store_text(const struct option_row *row, const char *text, struct options *options,
			  struct error *error);

#endif
