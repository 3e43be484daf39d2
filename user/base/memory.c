/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allocation that ends the program on exhaustion: see memory.h. */
#include "base/memory.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* From here on, an array has pages of its own, which it shares with nothing. */
#define MEMORY_LARGE (4u << 20)

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

/*
 * Each page of 4 kB is a fault, and a miss of the TLB whenever it is come to. All of the array's pages are asked for, its first and last one too: a
 * part of a mapping would become one of its own, and mappings of two kinds do not grow by moving. A kernel without large pages refuses, and
 * nothing is lost.
 */
static void *memory_want_large_pages(void *items, size_t bytes)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = (uintptr_t)items & ~(page - 1);
	uintptr_t end = ((uintptr_t)items + malloc_usable_size(items) + page - 1) & ~(page - 1);

	if (bytes >= MEMORY_LARGE)
		madvise((void *)start, end - start, MADV_HUGEPAGE);
	return items;
}

void *memory_grow_large(void *items, size_t count, size_t *capacity, size_t size)
{
	if (count < *capacity)
		return items;
	if (*capacity < MEMORY_LARGE / size)
		return memory_grow(items, count, capacity, size);
	*capacity += *capacity / 4;
	return memory_want_large_pages(memory_resize(items, *capacity, size), *capacity * size);
}

void *memory_alloc_large(size_t count, size_t size)
{
	return memory_want_large_pages(memory_alloc(count, size), count * size);
}
