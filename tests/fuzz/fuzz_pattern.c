/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a regular expression, a NUL, and a text. The same is found by expressions that mean the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pattern.h"
#include "fuzz.h"

/* -1 if it is no expression. */
static int found(const char *expression, const char *text)
{
	struct pattern pattern = { 0 };
	struct error error = { 0 };
	int is_found;

	if (pattern_compile(expression, &pattern, &error)) {
		MUST(error.kind == ERROR_USAGE && error.text[0]);
		return -1;
	}
	is_found = pattern_matches(&pattern, text);
	/* Nothing is left of a match before. */
	MUST(pattern_matches(&pattern, text) == is_found);
	pattern_free(&pattern);
	return is_found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const forms[] = { "(%s)", "^.*(?:%s)", "(?:%s).*$", "(%s)|x{0,1}(%s)" };
	char *copy = memory_alloc(size + 2, 1), *form;
	const char *text;
	int expected, is_found;
	size_t i;

	if (size)
		memcpy(copy, data, size);
	text = copy + strlen(copy) + 1;
	expected = found(copy, text);
	for (i = 0; i < sizeof(forms) / sizeof(forms[0]) && expected >= 0; i++) {
		form = memory_format(forms[i], copy, copy);
		is_found = found(form, text);
		/* It may be too large. */
		MUST(is_found < 0 || is_found == expected);
		free(form);
	}
	free(copy);
	return 0;
}
