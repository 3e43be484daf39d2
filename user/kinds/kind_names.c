/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See kind_names.h. Texts outlive the modules: a mark has the module's name, which is looked up again. */
#include "kinds/kind_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

#define MARK_PLACE '\1'
#define MARK_TYPE '\2'
#define MARK_END '\3'
#define VTABLE "vtable for "

/* The name of a module's file, of which only printable characters are kept. */
static void names_append_file(struct buffer *out, const struct mapped_module *module)
{
	const char *name = strrchr(module->name, '/');

	for (name = name ? name + 1 : module->name; *name; name++)
		buffer_append(out, (unsigned char)*name > ' ' && *name < 127 ? name : "?", 1);
}

void kind_names_mark_place(struct buffer *out, const struct module_ranges *modules,
			   const struct module_range *range, uint64_t address)
{
	const struct mapped_module *module = &modules->modules[range->module];

	buffer_append(out, &(char){ MARK_PLACE }, 1);
	names_append_file(out, module);
	buffer_printf(out, "+0x%llx%c", (unsigned long long)(address - module->bias), MARK_END);
}

void kind_names_mark_type(struct buffer *out, const char *mangled)
{
	buffer_printf(out, "%c%s%c", MARK_TYPE, mangled, MARK_END);
}

/* What is between two marks; moves `*at` behind them. NULL = there are none any more. */
static const char *names_next(const char **at, size_t *ret_length, char *ret_mark)
{
	const char *begin = *at, *end;

	while (*begin && *begin != MARK_PLACE && *begin != MARK_TYPE)
		begin++;
	end = *begin ? strchr(begin, MARK_END) : NULL;
	if (!end)
		return NULL;
	*ret_mark = *begin++;
	*ret_length = (size_t)(end - begin);
	*at = end + 1;
	return begin;
}

static uint64_t names_hash(const char *text, size_t length)
{
	return hash_bytes(HASH_BEGIN, text, length);
}

/* The module whose file has this name, or KIND_NO_MODULE: none, or several. */
static uint32_t names_module(const struct module_ranges *modules, const char *text, size_t length)
{
	uint32_t found = KIND_NO_MODULE, i;
	struct buffer file = { 0 };

	for (i = 0; i < modules->module_count; i++) {
		buffer_clear(&file);
		names_append_file(&file, &modules->modules[i]);
		if (file.length != length || memcmp(file.data, text, length) != 0)
			continue;
		if (found != KIND_NO_MODULE) {
			found = KIND_NO_MODULE;
			break;
		}
		found = i;
	}
	buffer_free(&file);
	return found;
}

/* "libfoo.so+0x12a0" */
static bool names_read_place(const struct module_ranges *modules, const char *text, size_t length,
			     struct kind_name *name)
{
	size_t at = length;

	while (at && text[at - 1] != '+')
		at--;
	if (!at)
		return false;
	name->module = names_module(modules, text, at - 1);
	name->address = strtoull(text + at, NULL, 16);
	return name->module != KIND_NO_MODULE;
}

void kind_names_collect(struct kind_names *names, const struct module_ranges *modules,
			const char *text)
{
	const char *at = text, *begin;
	size_t length;
	char mark;

	while (at && (begin = names_next(&at, &length, &mark))) {
		struct kind_name name = { .module = KIND_NO_MODULE };
		uint64_t hash = names_hash(begin, length);

		if (table_get(&names->by_text, hash) ||
		    (mark == MARK_PLACE && !names_read_place(modules, begin, length, &name)))
			continue;
		if (mark == MARK_TYPE) {
			name.mangled = memory_alloc(1, length + 1);
			memcpy(name.mangled, begin, length);
		}
		names->items = memory_grow(names->items, names->count, &names->capacity,
					   sizeof(*names->items));
		names->items[names->count++] = name;
		table_put(&names->by_text, hash, (void *)(uintptr_t)names->count);
	}
}

/* The answer for a marked text, or NULL. */
static const struct kind_name *names_find(const struct kind_names *names, const char *text,
					  size_t length)
{
	uintptr_t found = (uintptr_t)table_get(&names->by_text, names_hash(text, length));

	return found && names->items[found - 1].text ? &names->items[found - 1] : NULL;
}

static bool names_is_vtable(const struct kind_name *name)
{
	return !name->mangled && !strncmp(name->text, VTABLE, strlen(VTABLE));
}

static void names_append(struct buffer *out, const struct kind_name *name, const char *place,
			 size_t length)
{
	if (name->mangled || names_is_vtable(name)) {
		buffer_append_string(out, name->text + (name->mangled ? 0 : strlen(VTABLE)));
		return;
	}
	buffer_append_string(out, name->text);
	if (name->into)
		buffer_printf(out, "+0x%llx", (unsigned long long)name->into);
	buffer_append_string(out, " in ");
	buffer_append(out, place, length);
}

void kind_names_expand(const struct kind_names *names, const char *text, struct buffer *out)
{
	const char *at = text, *last = text, *begin;
	size_t length;
	char mark;

	while ((begin = names_next(&at, &length, &mark))) {
		const struct kind_name *name = names_find(names, begin, length);

		buffer_append(out, last, (size_t)(begin - 1 - last));
		if (name)
			names_append(out, name, begin, length);
		else
			buffer_append(out, begin, length);
		last = at;
	}
	buffer_append_string(out, last);
}

bool kind_names_is_class(const struct kind_names *names, const char *text)
{
	const char *at = text, *begin;
	const struct kind_name *name;
	size_t length;
	char mark;

	begin = names_next(&at, &length, &mark);
	name = begin && begin == text + 1 && !*at ? names_find(names, begin, length) : NULL;
	return name && names_is_vtable(name);
}

void kind_names_free(struct kind_names *names)
{
	size_t i;

	for (i = 0; i < names->count; i++) {
		free(names->items[i].mangled);
		free(names->items[i].text);
	}
	free(names->items);
	table_free(&names->by_text);
	*names = (struct kind_names){ 0 };
}
