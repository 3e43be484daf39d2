/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Growing byte buffer: see buffer.h. */
#include "base/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static void buffer_reserve(struct buffer *buffer, size_t more)
{
	size_t need = buffer->length + more + 1;

	if (need <= buffer->capacity)
		return;
	if (need < buffer->capacity * 2)
		need = buffer->capacity * 2;
	buffer->data = memory_resize(buffer->data, need, 1);
	buffer->capacity = need;
}

void buffer_append(struct buffer *buffer, const void *data, size_t length)
{
	buffer_reserve(buffer, length);
	if (length)
		memcpy(buffer->data + buffer->length, data, length);
	buffer->length += length;
	buffer->data[buffer->length] = '\0';
}

void buffer_append_string(struct buffer *buffer, const char *text)
{
	buffer_append(buffer, text, strlen(text));
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length <= 0)
		return;
	buffer_reserve(buffer, (size_t)length);
	va_start(arguments, format);
	vsnprintf(buffer->data + buffer->length, (size_t)length + 1, format, arguments);
	va_end(arguments);
	buffer->length += (size_t)length;
}

void buffer_clear(struct buffer *buffer)
{
	buffer->length = 0;
	if (buffer->data)
		buffer->data[0] = '\0';
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){ 0 };
}
