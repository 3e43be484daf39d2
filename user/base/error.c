/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors as values: see error.h. */
#include "base/error.h"

#include <stdio.h>

int error_set(struct error *error, enum error_kind kind, int code, const char *format, ...)
{
	va_list arguments;

	if (!error || error->kind != ERROR_NONE)
		return code;
	error->kind = kind;
	va_start(arguments, format);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	return code;
}
