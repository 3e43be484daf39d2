/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Operations on untrusted paths as text; accesses no file. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stdbool.h>

#include "base/buffer.h"

/*
 * Append `path`, relative to `directory` unless absolute, without empty components, "." and "..";
 * the parent of the root is the root. With `directory` NULL a relative path stays relative.
 */
void path_append_resolved(struct buffer *out, const char *directory, const char *path);

/*
 * The part of `path` below `directory`, without leading slash: "" if they are equal. NULL if it is
 * elsewhere.
 */
const char *path_below(const char *path, const char *directory);

/*
 * Do consecutive components of `path` match those of `pattern`? There * matches any bytes except a
 * slash, and # a digit.
 */
bool path_has_parts(const char *path, const char *pattern);

#endif
