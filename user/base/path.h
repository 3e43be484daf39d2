/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths as text, from outside: no file is looked at. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include <stdbool.h>

#include "base/buffer.h"

/*
 * Append `path`, from `directory` on if it is relative, without parts that are empty, "." or ".."; what is above the root is
 * the root. With `directory` NULL a relative path stays so.
 */
void path_append_resolved(struct buffer *out, const char *directory, const char *path);

/* What of `path` is below `directory`, without a slash before it: "" if it is that itself. NULL if it is elsewhere. */
const char *path_below(const char *path, const char *directory);

/*
 * Do parts of `path` that follow each other look like those of `pattern`? There a star is any bytes but a slash, and # a
 * digit.
 */
bool path_has_parts(const char *path, const char *pattern);

#endif
