/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See token.h. */
#include "serve/token.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/regular_file.h"

#define SCHEME "Bearer "

/* The first line of what was read, which has an end. */
static int token_take(const char *path, char *text, struct token *ret_token, struct error *error)
{
	struct token token = { "" };
	size_t length, i;

	text[strcspn(text, "\r\n")] = '\0';
	length = strlen(text);
	if (length < TOKEN_MIN || length > TOKEN_MAX)
		return error_set(error, ERROR_USAGE, -EINVAL,
				 "the first line of '%s' is no token: it has %d to %d characters",
				 path, TOKEN_MIN, TOKEN_MAX);
	for (i = 0; i < length; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return error_set(
				error, ERROR_USAGE, -EINVAL,
				"the first line of '%s' is no token: it has printable ASCII "
				"characters only, and no blanks",
				path);
	memcpy(token.text, text, length + 1);
	*ret_token = token;
	return 0;
}

int token_read(const char *path, struct token *ret_token, struct error *error)
{
	char text[TOKEN_MAX + 3] = "";
	int fd = regular_file_open(path, REGULAR_FILE_LINKS);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	int code = fd < 0 ? fd : length < 0 ? -errno : 0;
	struct stat status = { 0 };

	if (fd >= 0) {
		fstat(fd, &status);
		close(fd);
	}
	if (code)
		return error_set(error, ERROR_USAGE, code, "cannot read the token in '%s': %s",
				 path, regular_file_failure(path, code));
	if (status.st_mode & (S_IWGRP | S_IWOTH))
		return error_set(error, ERROR_USAGE, -EPERM,
				 "others can write the token in '%s' (mode %04o): 'chmod go-w' "
				 "takes that from them",
				 path, (unsigned int)status.st_mode & 07777);
	code = token_take(path, text, ret_token, error);
	explicit_bzero(text, sizeof(text));
	return code;
}

bool token_matches(const struct token *token, const char *authorization)
{
	const size_t length = strlen(token->text);
	unsigned int difference;
	const char *given;
	size_t given_length, i;

	if (!length || !authorization || strncasecmp(authorization, SCHEME, strlen(SCHEME)) != 0)
		return false;
	given = authorization + strlen(SCHEME);
	given_length = strlen(given);
	difference = given_length != length;
	/* All of the token is compared, whatever was given. */
	for (i = 0; i < length; i++)
		difference |= (unsigned char)token->text[i] ^
			      (unsigned char)given[i < given_length ? i : given_length];
	return !difference;
}
