/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See glob.h. */
#include "analyze/glob.h"

#include <stddef.h>
#include <string.h>

/* How a pattern is laid on a text. */
struct glob_how {
	bool one_is_wild; /* ? is any character */
	bool floats; /* it may begin anywhere */
	bool open; /* what follows in the text makes no difference */
};

/* The pattern ends at `end`. */
static bool glob_run(const char *pattern, const char *end, const char *text,
		     const struct glob_how *how)
{
	const char *star = how->floats ? pattern : NULL, *again = text;

	for (;;) {
		if (pattern < end && *pattern == '*') {
			star = ++pattern;
			again = text;
		} else if (pattern == end && (how->open || !*text)) {
			return true;
		} else if (pattern < end && *text &&
			   (*pattern == *text || (how->one_is_wild && *pattern == '?'))) {
			pattern++;
			text++;
		} else if (star && *again) {
			pattern = star;
			text = ++again;
		} else {
			return false;
		}
	}
}

bool glob_fits(const char *pattern, const char *text)
{
	const struct glob_how how = { .one_is_wild = true };

	return glob_run(pattern, pattern + strlen(pattern), text, &how);
}

bool glob_is_in(const char *pattern, const char *text)
{
	struct glob_how how = { .floats = *pattern != '^', .open = true };
	const char *end;

	pattern += !how.floats;
	end = pattern + strlen(pattern);
	if (end > pattern && end[-1] == '$') {
		how.open = false;
		end--;
	}
	return glob_run(pattern, end, text, &how);
}
