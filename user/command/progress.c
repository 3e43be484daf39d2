/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See progress.h. What takes long is not asked: a signal comes each second, whose handler writes what was set last. */
#include "command/progress.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STEP_SECONDS 1
#define TEXT_MAX 128

static bool progress_is_seen;
/* Of the two texts, the handler has one and the next is written into the other. */
static char progress_texts[2][TEXT_MAX];
static const char *volatile progress_text; /* NULL = nothing is done */
static volatile sig_atomic_t progress_is_shown;

static void progress_write(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return;
}

static void progress_on_alarm(int number)
{
	const char *text = progress_text;
	const int code = errno;

	(void)number;
	if (text) {
		progress_write("\r\033[Ktracer: ");
		progress_write(text);
		progress_write(" ...\r");
		progress_is_shown = 1;
		alarm(STEP_SECONDS);
	}
	errno = code;
}

void progress_open(const struct log *log)
{
	struct sigaction action = { .sa_handler = progress_on_alarm, .sa_flags = SA_RESTART };

	progress_is_seen = log->level >= LOG_NOTICE && isatty(STDERR_FILENO) == 1;
	/* Also where nothing is shown: a signal that comes all the same ends nothing. */
	sigaction(SIGALRM, &action, NULL);
}

static void progress_put(const char *format, va_list arguments)
{
	char *next = progress_texts[progress_text == progress_texts[0]];

	vsnprintf(next, TEXT_MAX, format, arguments);
	progress_text = next;
}

void progress_set(const char *format, ...)
{
	va_list arguments;

	if (!progress_text)
		return;
	va_start(arguments, format);
	progress_put(format, arguments);
	va_end(arguments);
}

void progress_begin(const char *what)
{
	if (!progress_is_seen)
		return;
	progress_text = progress_texts[0];
	progress_set("%s", what);
	alarm(STEP_SECONDS);
}

void progress_end(void)
{
	if (!progress_is_seen)
		return;
	alarm(0);
	progress_text = NULL;
	if (progress_is_shown)
		progress_write("\r\033[K");
	progress_is_shown = 0;
}

void progress_show(const char *format, ...)
{
	char text[TEXT_MAX];
	va_list arguments;

	if (!progress_is_seen)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	progress_write("\r\033[Ktracer: ");
	progress_write(text);
	progress_write("\r");
	progress_is_shown = 1;
}
