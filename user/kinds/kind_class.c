/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See kind_class.h. Before the functions of a vtable are an offset, which is 0 for the object itself, and the class's typeinfo: its
 * own vtable, whose typeinfo is one of __cxxabiv1's, and the mangled name.
 */
#include "kinds/kind_class.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "kinds/kind_names.h"

#define CLASS_NAME_MAX 1024

static bool class_is_code(const struct module_ranges *modules, uint64_t address)
{
	const struct module_range *range = module_ranges_at(modules, address);

	return range && range->kind == MODULE_CODE;
}

static bool class_is_static(const struct module_ranges *modules, uint64_t address)
{
	const struct module_range *range = module_ranges_at(modules, address);

	return range && range->kind != MODULE_CODE && !(address & 7);
}

/* A mangled name of letters, digits and underscores, as compilers write them. */
static bool class_read_name(struct image *image, const struct module_ranges *modules,
			    uint64_t address, char name[CLASS_NAME_MAX])
{
	size_t got, i;

	if (!module_ranges_at(modules, address))
		return false;
	got = image_read_part(image, address, name, CLASS_NAME_MAX - 1);
	name[got] = 0;
	/* That of a type that is in this file only begins with an asterisk. */
	if (name[0] == '*')
		memmove(name, name + 1, strlen(name));
	for (i = 0; name[i]; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			return false;
	return i > 1 && i < got &&
	       (isdigit((unsigned char)name[0]) || name[0] == 'N' || name[0] == 'S' ||
		name[0] == 'Z');
}

/* Is the first word of a typeinfo that of one of the types that describe classes? */
static bool class_is_typeinfo(struct image *image, const struct module_ranges *modules,
			      uint64_t vtable)
{
	char name[CLASS_NAME_MAX];
	uint64_t type;

	if (!class_is_static(modules, vtable))
		return false;
	type = image_word(image, vtable - 8);
	return class_is_static(modules, type) &&
	       class_read_name(image, modules, image_word(image, type + 8), name) &&
	       strstr(name, "__cxxabiv1");
}

enum kind_vtable kind_class_find(struct image *image, const struct module_ranges *modules,
				 uint64_t vtable, struct buffer *name)
{
	char mangled[CLASS_NAME_MAX];
	uint64_t words[4], type[2];

	if (!class_is_static(modules, vtable) || !image_read(image, vtable - 16, words, 24) ||
	    words[0])
		return KIND_NO_VTABLE;
	if (!words[1]) {
		words[3] = image_word(image, vtable + 8);
		return class_is_code(modules, words[2]) && class_is_code(modules, words[3])
			       ? KIND_VTABLE
			       : KIND_NO_VTABLE;
	}
	if (!class_is_static(modules, words[1]) ||
	    !image_read(image, words[1], type, sizeof(type)) ||
	    !class_is_typeinfo(image, modules, type[0]) ||
	    !class_read_name(image, modules, type[1], mangled))
		return KIND_NO_VTABLE;
	kind_class_append_name(name, mangled);
	return KIND_CLASS;
}

/* A name with its length before it; returns what is behind it, or NULL. */
static const char *class_append_part(struct buffer *out, const char *at)
{
	char *end;
	unsigned long length;

	if (!isdigit((unsigned char)*at))
		return NULL;
	length = strtoul(at, &end, 10);
	if (!length || length > CLASS_NAME_MAX || strnlen(end, length) < length)
		return NULL;
	if (length >= 10 && !strncmp(end, "_GLOBAL__N", 10))
		buffer_append_string(out, "(anonymous namespace)");
	else
		buffer_append(out, end, length);
	return end + length;
}

static bool class_append_plain(struct buffer *out, const char *mangled)
{
	bool nested = *mangled == 'N', first = true;
	const char *at = mangled + nested;

	if (at[0] == 'S' && at[1] == 't') {
		buffer_append_string(out, "std");
		at += 2;
		first = false;
	}
	while (*at && *at != 'E') {
		if (!first)
			buffer_append_string(out, "::");
		first = false;
		at = class_append_part(out, at);
		if (!at)
			return false;
	}
	return nested ? !strcmp(at, "E") : !*at;
}

void kind_class_append_name(struct buffer *out, const char *mangled)
{
	size_t before = out->length;

	if (class_append_plain(out, mangled))
		return;
	out->length = before;
	kind_names_mark_type(out, mangled);
}
