/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names within the texts of a census: addresses in modules and mangled types are marked, so that
 * all names that a report shows are requested at once. The marks are characters that neither
 * contains.
 */
#ifndef KINDS_KIND_NAMES_H
#define KINDS_KIND_NAMES_H

#include "base/buffer.h"
#include "base/strings.h"
#include "base/table.h"
#include "kinds/kind.h"

/* Append "libfoo.so+0x12a0", the address in the file, with marks. */
void kind_names_mark_place(struct buffer *out, const struct module_ranges *modules,
			   const struct module_range *range, uint64_t address);
/* Append a mangled type with marks. */
void kind_names_mark_type(struct buffer *out, const char *mangled);

/* The requested names. {0} is empty. */
struct kind_names {
	struct table by_text; /* hash of a marked text -> its position + 1 */
	struct kind_name *items;
	size_t count, capacity;
};

/* Add the marked names in `text` (NULL = none). */
void kind_names_collect(struct kind_names *names, const struct module_ranges *modules,
			const char *text);
/* Append `text` with marks replaced by the names found. */
void kind_names_expand(const struct kind_names *names, const char *text, struct buffer *out);
/* Is `text` just an address, which is the vtable of a class? */
bool kind_names_is_class(const struct kind_names *names, const char *text);
void kind_names_free(struct kind_names *names);

#endif
