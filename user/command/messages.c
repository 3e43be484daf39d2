/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See messages.h. */
#include "command/messages.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"

/* More are not kept: the last one is shown in any case. */
#define KEPT_BYTES_MAX 16384

/* A line of the log, whole. */
static ssize_t messages_take(void *cookie, const char *text, size_t length)
{
	struct messages *messages = cookie;
	size_t line = length && text[length - 1] == '\n' ? length - 1 : length;

	buffer_clear(&messages->last);
	buffer_append(&messages->last, text, line);
	messages->last_ns = clock_now_ns();
	if (!messages->is_held || !messages->is_terminal) {
		fwrite(text, 1, length, messages->to->stream);
		fflush(messages->to->stream);
	} else if (messages->kept.length + length <= KEPT_BYTES_MAX) {
		buffer_append(&messages->kept, text, length);
	}
	return (ssize_t)length;
}

void messages_open(struct messages *messages, const struct log *to)
{
	const cookie_io_functions_t functions = { .write = messages_take };

	*messages = (struct messages){ .to = to, .is_terminal = isatty(fileno(to->stream)) == 1 };
	messages->log =
		(struct log){ .stream = fopencookie(messages, "w", functions), .level = to->level };
}

void messages_hold(struct messages *messages)
{
	messages->is_held = true;
}

void messages_release(struct messages *messages)
{
	messages->is_held = false;
	if (messages->kept.length)
		fwrite(messages->kept.data, 1, messages->kept.length, messages->to->stream);
	fflush(messages->to->stream);
	buffer_clear(&messages->kept);
}

void messages_close(struct messages *messages)
{
	messages_release(messages);
	if (messages->log.stream)
		fclose(messages->log.stream);
	buffer_free(&messages->kept);
	buffer_free(&messages->last);
	messages->log.stream = NULL;
}
