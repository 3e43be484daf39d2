/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The secret token that requests to a server must carry. */
#ifndef SERVE_TOKEN_H
#define SERVE_TOKEN_H

#include <stdbool.h>

#include "base/error.h"

#define TOKEN_MIN 16
#define TOKEN_MAX 512

struct token {
	char text[TOKEN_MAX + 1]; /* "" = none */
};

/*
 * Read it from the first line of a file: TOKEN_MIN to TOKEN_MAX printable characters without blanks. Refuses a file that its group or
 * others can write. Returns 0, or a negative errno with `error` filled (ERROR_USAGE).
 */
int token_read(const char *path, struct token *ret_token, struct error *error);

/*
 * Is an Authorization header "Bearer " followed by the token? NULL is not. The time taken reveals
 * only the length of the token.
 */
bool token_matches(const struct token *token, const char *authorization);

#endif
