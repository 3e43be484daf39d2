/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A growing run of bytes that outputs are written into. */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stddef.h>

/* `data` is always terminated by a NUL that `length` does not count; {0} is an empty buffer. */
struct buffer {
	char *data;
	size_t length;
	size_t capacity;
};

void buffer_append(struct buffer *buffer, const void *data, size_t length);
void buffer_append_string(struct buffer *buffer, const char *text);
void buffer_printf(struct buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Empty the buffer, keeping its memory. */
void buffer_clear(struct buffer *buffer);
void buffer_free(struct buffer *buffer);

#endif
