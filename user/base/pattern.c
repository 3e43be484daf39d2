/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See pattern.h. */
#include "base/pattern.h"

#include <errno.h>
#include <string.h>

/* A backslash and a digit; within brackets they are bytes, but may as well be written the other way round there. */
static bool pattern_refers_back(const char *text)
{
	for (; *text; text++) {
		if (*text != '\\' || !text[1])
			continue;
		text++;
		if (*text >= '1' && *text <= '9')
			return true;
	}
	return false;
}

int pattern_compile(const char *text, struct pattern *ret_pattern, struct error *error)
{
	struct pattern pattern = { .valid = true };
	char why[128];
	int code;

	if (!*text)
		return error_set(error, ERROR_USAGE, -EINVAL,
				 "an empty regular expression matches everything");
	if (pattern_refers_back(text))
		return error_set(error, ERROR_USAGE, -EINVAL,
				 "the regular expression '%s' refers back to a group, for which a "
				 "match may take for ever",
				 text);
	code = regcomp(&pattern.compiled, text, REG_EXTENDED | REG_NOSUB);
	if (code) {
		regerror(code, &pattern.compiled, why, sizeof(why));
		return error_set(error, ERROR_USAGE, -EINVAL,
				 "'%s' is not an extended regular expression: %s", text, why);
	}
	*ret_pattern = pattern;
	return 0;
}

bool pattern_matches(const struct pattern *pattern, const char *text)
{
	return pattern->valid && !regexec(&pattern->compiled, text, 0, NULL, 0);
}

void pattern_free(struct pattern *pattern)
{
	if (pattern->valid)
		regfree(&pattern->compiled);
	pattern->valid = false;
}
