/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A regular expression of the tracer's user, for text of targets: POSIX extended, of bytes. Without back-references, with
 * which a text can make a match take for ever.
 */
#ifndef BASE_PATTERN_H
#define BASE_PATTERN_H

#include <regex.h>
#include <stdbool.h>

#include "base/error.h"

/* {0} matches nothing. */
struct pattern {
	regex_t compiled;
	bool valid;
};

/* Returns 0, or -EINVAL with `error` filled (ERROR_USAGE) and `*ret_pattern` untouched. Free with pattern_free. */
int pattern_compile(const char *text, struct pattern *ret_pattern, struct error *error);

/* Is it found somewhere in `text`? */
bool pattern_matches(const struct pattern *pattern, const char *text);

/* Accepts {0}, which it leaves. */
void pattern_free(struct pattern *pattern);

#endif
