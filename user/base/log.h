/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages to the person at the terminal, on stderr, each a line that begins with "tracer: ". */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdio.h>

enum log_level {
	LOG_ERROR, /* always shown */
	LOG_NOTICE, /* hidden by -q */
	LOG_VERBOSE, /* shown by -v */
};

/* Where messages go and which are shown. A NULL log swallows everything. */
struct log {
	FILE *stream;
	enum log_level level;
};

/* Write one line. Bytes that could drive a terminal are written as \xNN. */
void log_write(const struct log *log, enum log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
