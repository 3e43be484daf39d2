/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A regular expression of the tracer's user, for text of targets: POSIX extended, of bytes, with \d, \w, \s, \b and (?:...) as
 * most tools have them. Without back-references. All ways to match are followed at the same time, so that the time a text
 * takes grows with its length and with that of the expression, and no faster, whatever is in the text.
 *
 * No library does this in C. Of 32 KiB that a target has chosen, "a.*b.{20}x" takes glibc's regexec() more than a minute and
 * PCRE2 37 s (here: 6 ms), and "(a|b)*a(a|b){30}x" takes the former 28 KB of memory for each byte. Behind a limit of theirs it
 * would be unknown whether a process is selected. RE2 has this guarantee, but is C++.
 */
#ifndef BASE_PATTERN_H
#define BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct pattern_step;
struct pattern_bytes;

/* {0} matches nothing. */
struct pattern {
	bool valid;
	struct pattern_step *steps;
	size_t count, capacity;
	struct pattern_bytes *sets; /* that steps refer to */
	size_t set_count, set_capacity;
	/* Of a match that is under way: the steps that are waited at, and those to go to. */
	uint32_t *now, *next, *pending;
	uint64_t *seen; /* by step: the last position at which it was reached */
};

/*
 * Returns 0, or -EINVAL with `error` filled (ERROR_USAGE), which shows where the expression is wrong, and `*ret_pattern`
 * untouched. Free with pattern_free.
 */
int pattern_compile(const char *text, struct pattern *ret_pattern, struct error *error);

/* Is it found somewhere in `text`? One match at a time. */
bool pattern_matches(const struct pattern *pattern, const char *text);

/* Accepts {0}, which it leaves. */
void pattern_free(struct pattern *pattern);

#endif
