/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the output by the options: the file of -o with its name expanded, or stdout; and whether
 * it is coloured.
 */
#ifndef COMMAND_OUTPUT_CHOICE_H
#define COMMAND_OUTPUT_CHOICE_H

#include "command/options.h"
#include "command/output.h"

/*
 * Open the output for reports on `pids`. Returns 0, or a negative errno with `error` filled:
 * ERROR_USAGE also if a binary format would go to a terminal. Close with output_close in either
 * case.
 */
int output_choice_open(struct output *output, const struct options *options, const int *pids,
		       size_t pid_count, bool *ret_color, struct error *error);

#endif
