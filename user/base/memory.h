/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory allocation that ends the program on failure, so no caller handles exhaustion. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

/*
 * Name what limits memory, for the message on exhaustion. Borrowed for good; NULL = no known limit.
 */
void memory_name_limit(const char *limit);

/* Zeroed memory for `count` items of `size` bytes; never NULL. Free with free(). */
void *memory_alloc(size_t count, size_t size);

/* realloc for `count` items of `size` bytes; the grown part is not zeroed. Never NULL. */
void *memory_resize(void *items, size_t count, size_t size);

/* A copy of `text`; NULL gives NULL. Free with free(). */
char *memory_copy_string(const char *text);

/* A formatted string; never NULL. Free with free(). */
char *memory_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Room for one more item at the end of a growing array: `items` holds `count` of `*capacity` items.
 * Returns the array, moved if it had to grow.
 */
void *memory_grow(void *items, size_t count, size_t *capacity, size_t size);

/*
 * The same for an array of up to millions of items: grows in smaller steps, and uses large pages.
 */
void *memory_grow_large(void *items, size_t count, size_t *capacity, size_t size);

/*
 * memory_alloc for an array that is used completely and in random order: uses large pages, if the
 * kernel has some.
 */
void *memory_alloc_large(size_t count, size_t size);

#endif
