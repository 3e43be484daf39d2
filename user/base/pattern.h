/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A regular expression from the tracer's user, matched against text of targets: POSIX extended,
 * over bytes, with \d, \w, \s, \b and (?:...) as in most tools, without back-references. All
 * alternatives are followed at the same time, so matching time is proportional to the length of the
 * text times that of the expression, whatever the text is.
 *
 * No C library offers this. For 32 KiB chosen by a target, "a.*b.{20}x" takes glibc's regexec()
 * more than a minute and PCRE2 37 s (here: 6 ms), and "(a|b)*a(a|b){30}x" takes regexec() 28 KB of
 * memory per byte. With limits on those, it would be unknown whether a process is selected. RE2 has
 * this guarantee, but is C++.
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
	/* State of a match: current steps, next steps, and steps to visit. */
	uint32_t *now, *next, *pending;
	uint64_t *seen; /* by step: the last position at which it was reached */
};

/*
 * Returns 0, or -EINVAL with `error` filled (ERROR_USAGE), which shows where the expression is wrong, and `*ret_pattern`
 * untouched. Free with pattern_free.
 */
int pattern_compile(const char *text, struct pattern *ret_pattern, struct error *error);

/* Does it match anywhere in `text`? Not reentrant. */
bool pattern_matches(const struct pattern *pattern, const char *text);

/* Accepts {0}, which it leaves. */
void pattern_free(struct pattern *pattern);

#endif
