/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "Did you mean": finds the known word nearest to a mistyped one. */
#ifndef COMMAND_SUGGEST_H
#define COMMAND_SUGGEST_H

#include <stddef.h>

/*
 * Edit distance with transpositions: the least number of letters to insert, remove, replace or swap
 * with a neighbour to turn `from` into `to`. Words longer than 63 bytes are at distance SIZE_MAX.
 */
size_t suggest_distance(const char *from, const char *to);

/*
 * The first of the nearest words in `words` (NULL-terminated); NULL if none is near enough to be a
 * likely typo.
 */
const char *suggest_nearest(const char *typed, const char *const *words);

#endif
