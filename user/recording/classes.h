/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Histograms of lifespans and ages in a recording: a JSON array with one number per class, without
 * trailing zeros, so that SQLite's json_each() reads it. Pure.
 */
#ifndef RECORDING_CLASSES_H
#define RECORDING_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "model/lifespans.h"

/* Append the text of a histogram; nothing if it is empty. Numbers above INT64_MAX are lowered to that. */
void classes_append(struct buffer *text, const uint64_t classes[LIFE_CLASSES]);

/*
 * The inverse; NULL = empty. False, with an undefined result, if classes_append cannot have written
 * the text.
 */
bool classes_parse(const char *text, uint64_t ret_classes[LIFE_CLASSES]);

/*
 * Advance ages by `ns`, with the same blocks in use. Blocks are assumed evenly spread within a
 * class; none becomes older than `oldest_ns`, the age of the oldest one then (0 = unknown). The sum
 * stays.
 */
void classes_grow_older(uint64_t ages[LIFE_CLASSES], uint64_t ns, uint64_t oldest_ns);

/* Does more than one in CLASSES_PART blocks of `ages` have another class in `other`? */
#define CLASSES_PART 16
bool classes_differ(const uint64_t ages[LIFE_CLASSES], const uint64_t other[LIFE_CLASSES]);

#endif
