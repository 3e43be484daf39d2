/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "Did you mean": the known word that a mistyped one is nearest to. */
#ifndef COMMAND_SUGGEST_H
#define COMMAND_SUGGEST_H

#include <stddef.h>

/*
 * The least number of letters to insert, remove, replace or swap with their neighbour that makes `from` into
 * `to`. Words longer than 63 bytes are as far as can be: SIZE_MAX.
 */
size_t suggest_distance(const char *from, const char *to);

/*
 * The word of `words` (ended by NULL) that is nearest to `typed`, the first of equals; NULL if none is near
 * enough to be a likely slip.
 */
const char *suggest_nearest(const char *typed, const char *const *words);

#endif
