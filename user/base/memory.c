/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allocation that ends the program on exhaustion: see memory.h. */
#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *memory_limit;

void memory_name_limit(const char *limit)
{
	memory_limit = limit;
}

static void *memory_check(void *memory)
{
	if (memory)
		return memory;
	if (memory_limit)
		fprintf(stderr, "tracer: out of memory: it takes more than %s allows\n",
			memory_limit);
	else
		fputs("tracer: out of memory\n", stderr);
	exit(3);
}

void *memory_alloc(size_t count, size_t size)
{
	return memory_check(calloc(count ? count : 1, size ? size : 1));
}

void *memory_resize(void *items, size_t count, size_t size)
{
	return memory_check(reallocarray(items, count ? count : 1, size ? size : 1));
}

char *memory_copy_string(const char *text)
{
	return text ? memory_check(strdup(text)) : NULL;
}

char *memory_format(const char *format, ...)
{
	va_list arguments;
	char *text = NULL;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	return memory_check(length < 0 ? NULL : text);
}

void *memory_grow(void *items, size_t count, size_t *capacity, size_t size)
{
	if (count < *capacity)
		return items;
	*capacity = *capacity ? *capacity * 2 : 8;
	return memory_resize(items, *capacity, size);
}
