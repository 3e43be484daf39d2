/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Orders for qsort() and the like: negative, 0 or positive. */
#ifndef BASE_COMPARE_H
#define BASE_COMPARE_H

#include <stdint.h>
#include <string.h>

static inline int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* By address. */
static inline int compare_pointers(const void *a, const void *b)
{
	return compare_numbers((uintptr_t)a, (uintptr_t)b);
}

/* NULL is as "". */
static inline int compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

#endif
