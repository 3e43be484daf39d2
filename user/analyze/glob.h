/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns of suppressions: * is any text, ? any character. A match takes no longer than the product of the lengths. */
#ifndef ANALYZE_GLOB_H
#define ANALYZE_GLOB_H

#include <stdbool.h>

/* Does it fit the whole text? */
bool glob_fits(const char *pattern, const char *text);
/* Does it fit some of the text? Only * is wild; ^ at its beginning and $ at its end hold it there. */
bool glob_is_in(const char *pattern, const char *text);

#endif
