/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Patterns of suppressions: * matches any text, ? any character. The time of a match is bounded by
 * the product of the lengths.
 */
#ifndef ANALYZE_GLOB_H
#define ANALYZE_GLOB_H

#include <stdbool.h>

/* Does the pattern match the whole text? */
bool glob_fits(const char *pattern, const char *text);
/*
 * Does the pattern match part of the text? Only * is a wildcard; a leading ^ and a trailing $ are
 * anchors.
 */
bool glob_is_in(const char *pattern, const char *text);

#endif
