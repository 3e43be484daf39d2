/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parsers of options that choose processes, for options_table.c; see `store` of struct option_row.
 */
#ifndef COMMAND_OPTIONS_STORE_H
#define COMMAND_OPTIONS_STORE_H

#include "command/option_row.h"

int options_store_pids(const struct option_row *row, const char *text, struct options *options,
		       struct error *error);
int options_store_tree(const struct option_row *row, const char *text, struct options *options,
		       struct error *error);
int options_store_pattern(const struct option_row *row, const char *text, struct options *options,
			  struct error *error);
int options_store_wait(const struct option_row *row, const char *text, struct options *options,
		       struct error *error);

#endif
