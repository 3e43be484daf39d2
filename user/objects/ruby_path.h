/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ways from objects to what holds them, as text: "[7] of Array of 9850 <- @handlers of Bus <- constant App::BUS". */
#ifndef OBJECTS_RUBY_PATH_H
#define OBJECTS_RUBY_PATH_H

#include "base/buffer.h"
#include "objects/ruby_holders.h"

/*
 * Append the way from the object of a number, which must be reached, to its root. With `samples` keys of hashes that are strings are
 * shown; they are data of the program. The text is not made safe for a terminal.
 */
void ruby_path_append(const struct ruby_holders *holders, uint32_t number, bool samples,
		      struct buffer *text);

/* What is alike in ways that differ in positions, keys and lengths only. */
uint64_t ruby_path_shape(const char *text);

#endif
