/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See cxx_name.h. */
#include "analyze/cxx_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define ANONYMOUS "(anonymous namespace)"
#define OPERATOR "operator"

static bool cxx_name_is_part(char byte)
{
	return byte == '_' || isalnum((unsigned char)byte);
}

/* Is the word "operator" at `at`? */
static bool cxx_name_is_operator(const char *function, const char *at)
{
	size_t length = strlen(OPERATOR);

	return !strncmp(at, OPERATOR, length) && !cxx_name_is_part(at[length]) &&
	       (at == function || !cxx_name_is_part(at[-1]));
}

const char *cxx_name_begin(const char *function)
{
	const char *begin = function, *at = function;
	int depth = 0;

	/* What follows an operator's name is its sign or a type, and may hold anything. */
	for (; *at && !cxx_name_is_operator(function, at); at++) {
		if (!strncmp(at, ANONYMOUS, strlen(ANONYMOUS)))
			at += strlen(ANONYMOUS) - 1;
		else if (*at == '(' && !depth && at > begin)
			break;
		else if (strchr("<([{", *at))
			depth++;
		else if (strchr(">)]}", *at))
			depth -= depth > 0;
		else if (*at == ' ' && !depth)
			begin = at + 1;
	}
	return begin;
}
