/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the difference between comparands. */
#ifndef COMMAND_COMPARISON_H
#define COMMAND_COMPARISON_H

#include "analyze/difference.h"
#include "command/comparand.h"

/*
 * Read the comparands, the earliest first, and write their difference. Returns the exit status of
 * the program.
 */
int comparison_run(const struct comparand *comparands, size_t count, const struct options *options,
		   const struct log *log);

#endif
