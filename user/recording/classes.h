/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Histograms of lifespans and ages as a recording has them: an array of JSON with one number for each class from the first, without the
 * zeros at its end, so that json_each() of SQLite reads it. Pure.
 */
#ifndef RECORDING_CLASSES_H
#define RECORDING_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "model/lifespans.h"

/* Append the text of a histogram; nothing if it is empty. Numbers above INT64_MAX are lowered to that. */
void classes_append(struct buffer *text, const uint64_t classes[LIFE_CLASSES]);

/* The inverse; NULL = an empty one. False, with an undefined result, if the text is none that classes_append writes. */
bool classes_parse(const char *text, uint64_t ret_classes[LIFE_CLASSES]);

/*
 * Ages `ns` later, if the same blocks are still in use. Within a class they count as evenly spread; none becomes older than `oldest_ns`,
 * the age of the oldest one then (0 = not known). The sum stays.
 */
void classes_grow_older(uint64_t ages[LIFE_CLASSES], uint64_t ns, uint64_t oldest_ns);

/* Is more than one of CLASSES_PART blocks of `ages` in another class in `other`? */
#define CLASSES_PART 16
bool classes_differ(const uint64_t ages[LIFE_CLASSES], const uint64_t other[LIFE_CLASSES]);

#endif
