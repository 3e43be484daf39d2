/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An option of the command line as data: its name, its help text, and how its argument is read and stored. */
#ifndef COMMAND_OPTION_ROW_H
#define COMMAND_OPTION_ROW_H

#include "command/options.h"

/* Longest time on a command line: beyond any use, and a sum of two with a clock cannot overflow. */
#define OPTION_TIME_MAX_NS (1ULL << 61)

enum option_flag {
	OPTION_TESTING = 1, /* only in the verbose help text */
	OPTION_ALIAS = 2, /* alias of an option; not in the help text */
	OPTION_OPTIONAL = 4, /* its argument may be omitted before another option or at the end */
};

struct option_row {
	const char *name; /* without the dashes */
	char letter; /* 0 = none */
	const char *argument; /* name in the help text; NULL = takes no argument */
	const char *help;
	/*
	 * Parse `text` (NULL if the option takes or got no argument) into `options`. Returns 0 or
	 * -EINVAL with `error` filled.
	 */
	int (*store)(const struct option_row *row, const char *text, struct options *options,
		     struct error *error);
	size_t field; /* offset in struct options */
	uint64_t min, max; /* bounds of a number, a size or a time */
	unsigned int value; /* stored by an option without argument */
	const char *const *words; /* accepted words, indexed by value, NULL-terminated */
	unsigned int flags; /* enum option_flag */
};

/* A group of options, in the order of the help text. Commands take whole lists. */
struct option_list {
	const struct option_row *rows;
	size_t count;
};

#define OPTION_LABEL_MAX 32
/* The option in a sentence: "-p/--pid" or "--min-age". Returns `text`. */
const char *option_row_label(const struct option_row *row, char text[OPTION_LABEL_MAX]);

/* Refuse an argument: the option takes `wanted`. Returns -EINVAL. */
int option_row_refuse(const struct option_row *row, const char *text, const char *wanted,
		      struct error *error);

/* Values for `store`. These store into a uint64_t. */
int option_row_store_number(const struct option_row *row, const char *text, struct options *options,
			    struct error *error);
int option_row_store_size(const struct option_row *row, const char *text, struct options *options,
			  struct error *error);
int option_row_store_time(const struct option_row *row, const char *text, struct options *options,
			  struct error *error);
/* These store into an enum: the index in `words`; or `value`. */
int option_row_store_word(const struct option_row *row, const char *text, struct options *options,
			  struct error *error);
int option_row_store_value(const struct option_row *row, const char *text, struct options *options,
			   struct error *error);
/* Stores true into a bool. */
int option_row_store_true(const struct option_row *row, const char *text, struct options *options,
			  struct error *error);
/* Stores the argument itself into a const char *. */
int option_row_store_text(const struct option_row *row, const char *text, struct options *options,
			  struct error *error);

#endif
