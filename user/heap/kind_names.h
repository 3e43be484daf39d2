/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names within the texts of a census: places in modules and mangled types are marked there, so that all that a report shows is
 * asked for at once. The marks are characters that neither has.
 */
#ifndef HEAP_KIND_NAMES_H
#define HEAP_KIND_NAMES_H

#include "base/buffer.h"
#include "base/strings.h"
#include "base/table.h"
#include "heap/kind.h"

/* Append "libfoo.so+0x12a0", the address in the file, with marks. */
void kind_names_mark_place(struct buffer *out, const struct module_ranges *modules,
			   const struct module_range *range, uint64_t address);
/* Append a mangled type with marks. */
void kind_names_mark_type(struct buffer *out, const char *mangled);

/* What was asked for. {0} is empty. */
struct kind_names {
	struct table by_text; /* hash of a marked text -> its position + 1 */
	struct kind_name *items;
	size_t count, capacity;
};

/* Add what is marked in `text` (NULL = nothing). */
void kind_names_collect(struct kind_names *names, const struct module_ranges *modules,
			const char *text);
/* Append `text` with the names that were found, and without marks. */
void kind_names_expand(const struct kind_names *names, const char *text, struct buffer *out);
/* Is `text` nothing but a place that is the vtable of a class? */
bool kind_names_is_class(const struct kind_names *names, const char *text);
void kind_names_free(struct kind_names *names);

#endif
