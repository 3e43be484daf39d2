/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which rows of profiles are of one site: see difference.h. */
#ifndef ANALYZE_DIFFERENCE_MATCH_H
#define ANALYZE_DIFFERENCE_MATCH_H

#include "model/profile.h"

/*
 * What a row is known by, as a hash that begins with a secret `seed`: equal for rows of one site. `by_name`: where files were built anew,
 * too, native code that has a build ID by its module's base name and its function; then difference_match_rebuilt has to be asked.
 */
uint64_t difference_match_hash(const struct profile_row *row, uint64_t seed, bool by_name);

/*
 * Of rows that are equal by name: is at least one of their files another build, and is all that lies in files of the same build at the
 * same place?
 */
bool difference_match_rebuilt(const struct profile_row *a, const struct profile_row *b);

#endif
