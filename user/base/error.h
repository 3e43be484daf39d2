/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An error that a person must read: a code for the program and a sentence for the reader. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdarg.h>

/* What kind of failure ends the program; the values are its exit statuses. */
enum error_kind {
	ERROR_NONE = 0,
	ERROR_USAGE = 2, /* the command line is wrong */
	ERROR_PERMISSION =
		3, /* a privilege or a kernel feature is missing; also every internal failure */
	ERROR_TARGET = 4, /* the target does not exist or is gone */
	ERROR_NOTHING = 5, /* nothing in the target can be probed */
	/* As shells have it: */
	ERROR_NOT_EXECUTABLE = 126, /* the command to start cannot be executed, */
	ERROR_NOT_FOUND = 127, /* or does not exist */
};

struct error {
	enum error_kind kind;
	char text[1024];
};

/*
 * Fill `error` with a kind and a formatted sentence without a full stop. The first error wins: a later call does
 * not overwrite it. `error` may be NULL. Returns `code` (a negative errno), so that callers can
 * `return error_set(...)`.
 */
int error_set(struct error *error, enum error_kind kind, int code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
