/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formats paths from objects to their roots: "[7] of Array of 9850 <- @handlers of Bus <- constant
 * App::BUS".
 */
#ifndef RUBY_RUBY_PATH_H
#define RUBY_RUBY_PATH_H

#include "base/buffer.h"
#include "ruby/ruby_holders.h"

/*
 * Append the path from a reached object to its root. `samples`: show keys of hashes that are
 * strings, which are data of the program. Not safe for a terminal.
 */
void ruby_path_append(const struct ruby_holders *holders, uint32_t number, bool samples,
		      struct buffer *text);

/* A hash of the path that ignores positions, keys and lengths. */
uint64_t ruby_path_shape(const char *text);

#endif
