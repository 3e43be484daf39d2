/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lists the files that a command is going to map, by running its dynamic loader without the
 * tracer's privileges.
 */
#ifndef COMMAND_LISTING_H
#define COMMAND_LISTING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/log.h"
#include "command/options.h"
#include "decode/decoder.h"

/*
 * List the files that `program`, which is going to run in any case, will map. Returns 0; 1, which is
 * logged, if only the program and its loader are known; or a negative errno with `error` filled.
 * Free `*ret_paths`, which ends with NULL, with listing_free.
 */
int listing_read_started(const struct options *options, struct decoder *decoder,
			 const char *program, const struct log *log, char ***ret_paths,
			 struct error *error);

/* Accepts NULL. */
void listing_free(char **paths);

/*
 * As loader_list_libraries, for a program and the -u of `options`. Without -u, root runs the loader
 * as the owner of the program, or as nobody if root owns it. Only a loader of the system is run.
 * `started`: the command will run anyway, so an unprivileged caller may run any loader, and missing
 * files may be found later: returns 1, with `error` filled, if only the program and its loader are
 * known.
 */
int listing_read(const struct options *options, struct decoder *decoder, const char *program,
		 bool started, char ***ret_paths, size_t *ret_count, struct error *error);

#endif
