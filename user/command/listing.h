/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which files a command is going to map, asked of its loader without the privileges of the tracer. */
#ifndef COMMAND_LISTING_H
#define COMMAND_LISTING_H

#include <stdbool.h>
#include <stddef.h>

#include "command/options.h"
#include "decode/decoder.h"

/*
 * As loader_list_libraries, for a program and the -u of `options`. Without -u, root has the loader
 * run as the owner of the program, or as nobody if that is root. Only a loader of the system's is
 * run. `started`: the command is going to run anyway, so a caller who is not root may have any
 * loader run, and the rest of the command's files may be found later: returns 1, with `error`
 * filled, if only the program and its loader are known.
 */
int listing_read(const struct options *options, struct decoder *decoder, const char *program,
		 bool started, char ***ret_paths, size_t *ret_count, struct error *error);

#endif
