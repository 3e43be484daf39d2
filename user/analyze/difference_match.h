/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Matches rows of profiles that belong to one site; see difference.h. */
#ifndef ANALYZE_DIFFERENCE_MATCH_H
#define ANALYZE_DIFFERENCE_MATCH_H

#include "model/profile.h"

/*
 * Hash of a row's identity, starting with a secret `seed`: equal for rows of one site. `by_name`:
 * also match rebuilt files, by comparing native code that has a build ID by the module's base name
 * and function; confirm such a match with difference_match_rebuilt.
 */
uint64_t difference_match_hash(const struct profile_row *row, uint64_t seed, bool by_name);

/*
 * For rows equal by name: is at least one of their files another build, and is code in files of the
 * same build at the same offset?
 */
bool difference_match_rebuilt(const struct profile_row *a, const struct profile_row *b);

#endif
