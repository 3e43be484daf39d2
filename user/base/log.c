/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages on stderr, one write per line so that lines of several processes do not mix: see log.h. */
#include "base/log.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/text.h"

void log_write(const struct log *log, enum log_level level, const char *format, ...)
{
	struct buffer line = { 0 };
	char *message = NULL;
	va_list arguments;
	int length;

	if (!log || !log->stream || (level != LOG_ERROR && level > log->level))
		return;
	va_start(arguments, format);
	length = vasprintf(&message, format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
	buffer_append_string(&line, "tracer: ");
	text_append_safe(&line, message);
	buffer_append_string(&line, "\n");
	fwrite(line.data, 1, line.length, log->stream);
	fflush(log->stream);
	buffer_free(&line);
	free(message);
}
