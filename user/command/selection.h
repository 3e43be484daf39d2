/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes the options mean besides those that are named by their pids. */
#ifndef COMMAND_SELECTION_H
#define COMMAND_SELECTION_H

#include "base/error.h"
#include "command/options.h"
#include "discover/selector.h"

/*
 * Fill `selector`, which is {0}; it stays so if the options mean none. Names in it are the options'. Returns 0, or a
 * negative errno with `error` filled. Free with selector_free.
 */
int selection_read(const struct options *options, struct selector *selector, struct error *error);

#endif
