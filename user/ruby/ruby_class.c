/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ruby_class.h. */
#include "ruby/ruby_class.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ruby/ruby_table.h"

/* Classes above each other: far more than a program has. */
#define NESTING_MAX 256
#define VARIABLES_MAX 4096
#define PATH_INDEX_MAX 64 /* variables of Object that are looked at for its path */

#define STRING_APART (1u << 13) /* its bytes are not in the slot */
#define STRING_LENGTH_SHIFT 14 /* of embedded ones, up to 3.1 */
#define STRING_LENGTH_MASK 31u

enum class_word {
	CLASS_FLAGS,
	CLASS_CLASS,
	CLASS_SUPER,
	CLASS_EXTENSION,
	CLASS_WORDS,
};

size_t ruby_class_string(const struct ruby_names *names, uint64_t string, char *ret_text,
			 size_t size)
{
	bool wide = names->heap->layout->wide_strings;
	uint64_t words[4], length, at;

	ret_text[0] = '\0';
	if (!string || string & 7 ||
	    !image_read(names->heap->image, string, words, sizeof(words)) ||
	    (words[0] & (RUBY_TYPES - 1)) != RUBY_T_STRING)
		return 0;
	length = words[2];
	at = words[3];
	if (!(words[0] & STRING_APART)) {
		at = string + (wide ? 24 : 16);
		if (!wide)
			length = words[0] >> STRING_LENGTH_SHIFT & STRING_LENGTH_MASK;
	}
	if (length > size - 1)
		length = size - 1;
	if (!image_read(names->heap->image, at, ret_text, length))
		length = 0;
	ret_text[length] = '\0';
	return length;
}

static bool class_is_class(uint64_t flags)
{
	uint64_t type = flags & (RUBY_TYPES - 1);

	return type == RUBY_T_CLASS || type == RUBY_T_MODULE || type == RUBY_T_ICLASS;
}

/* The class itself, or the one above it where the program does not see it; 0 = it is none. */
static uint64_t class_step(const struct ruby_names *names, uint64_t class)
{
	uint64_t words[CLASS_WORDS];

	if (!image_read(names->heap->image, class, words, sizeof(words)) ||
	    !class_is_class(words[CLASS_FLAGS]))
		return 0;
	if (words[CLASS_FLAGS] & names->heap->layout->singleton ||
	    (words[CLASS_FLAGS] & (RUBY_TYPES - 1)) == RUBY_T_ICLASS)
		return words[CLASS_SUPER];
	return class;
}

uint64_t ruby_class_real(struct ruby_names *names, uint64_t class)
{
	uint64_t first = class, next, known;
	int i;

	for (i = 0; i < NESTING_MAX && class && !(class & 7); i++) {
		known = (uintptr_t)table_get(&names->reals, class);
		next = known ? known : class_step(names, class);
		if (next == class || known) {
			table_put(&names->reals, first, (void *)(uintptr_t)next);
			return next;
		}
		class = next;
	}
	return 0;
}

static uint64_t class_extension(const struct ruby_names *names, uint64_t class)
{
	uint64_t extension = class + names->heap->layout->extension;

	return names->heap->layout->extension_is_pointer ? image_word(names->heap->image, extension)
							 : extension;
}

static uint64_t class_variables(const struct ruby_names *names, uint64_t class)
{
	uint64_t extension = class_extension(names, class);

	return extension
		       ? image_word(names->heap->image, extension + names->heap->layout->variables)
		       : 0;
}

struct class_search {
	const struct ruby_names *names;
	const char *value; /* find the key of this string; NULL: the value of `key` */
	uint64_t key, found;
};

static bool class_look(void *context, uint64_t key, uint64_t value)
{
	struct class_search *search = context;
	char text[16];

	if (search->value) {
		if (ruby_class_string(search->names, value, text, sizeof(text)) &&
		    !strcmp(text, search->value))
			search->found = key;
	} else if (key == search->key) {
		search->found = value;
	}
	return !search->found;
}

/* In 3.2 variables are an array, and the class's shape has their names. */
static void class_find_key_by_shape(struct ruby_names *names)
{
	const struct ruby_heap *heap = names->heap;
	uint64_t variables = class_variables(names, heap->object_class), i;
	char text[16];

	ruby_shape_find(heap, &names->shapes);
	for (i = 0; names->shapes.list && variables && i < PATH_INDEX_MAX && !names->key; i++) {
		if (ruby_class_string(names, image_word(heap->image, variables + i * 8), text,
				      sizeof(text)) &&
		    !strcmp(text, "Object"))
			names->key = ruby_shape_name(heap->image, &names->shapes,
						     image_word(heap->image, heap->object_class),
						     i);
	}
}

static uint64_t class_path_by_shape(const struct ruby_names *names, uint64_t class)
{
	struct image *image = names->heap->image;
	uint64_t variables = class_variables(names, class);
	int64_t index =
		ruby_shape_index(image, &names->shapes, image_word(image, class), names->key);

	return variables && index >= 0 ? image_word(image, variables + (uint64_t)index * 8) : 0;
}

/* Up to 3.2 the path is a variable of the class, whose name has another number in each process: Object's own path shows it. */
void ruby_class_open(struct ruby_heap *heap, struct ruby_names *ret_names)
{
	struct class_search search = { .names = ret_names, .value = "Object" };

	*ret_names = (struct ruby_names){ .heap = heap };
	if (heap->layout->class_name)
		return;
	if (heap->layout->shape_size) {
		class_find_key_by_shape(ret_names);
		return;
	}
	ruby_table_walk(heap->image, class_variables(ret_names, heap->object_class), VARIABLES_MAX,
			class_look, &search);
	ret_names->key = search.found;
}

static size_t class_read_name(struct ruby_names *names, uint64_t class, char *ret_name, size_t size)
{
	struct class_search search = { .names = names, .key = names->key };

	if (names->heap->layout->class_name) {
		search.found =
			image_word(names->heap->image,
				   class_extension(names, class) + names->heap->layout->class_name);
	} else if (names->key && names->heap->layout->shape_size) {
		search.found = class_path_by_shape(names, class);
	} else if (names->key) {
		ruby_table_walk(names->heap->image, class_variables(names, class), VARIABLES_MAX,
				class_look, &search);
	}
	return ruby_class_string(names, search.found, ret_name, size);
}

size_t ruby_class_name(struct ruby_names *names, uint64_t class, char *ret_name, size_t size)
{
	const char *known;

	ret_name[0] = '\0';
	class = ruby_class_real(names, class);
	if (!class)
		return 0;
	known = table_get(&names->paths, class);
	if (!known) {
		class_read_name(names, class, ret_name, size);
		table_put(&names->paths, class, memory_copy_string(ret_name));
	} else {
		snprintf(ret_name, size, "%s", known);
	}
	return strlen(ret_name);
}

void ruby_class_forget(struct ruby_names *names)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	while ((slot = table_next(&names->paths, &cursor)))
		free(slot->value);
	table_free(&names->paths);
	table_free(&names->reals);
}

void ruby_class_close(struct ruby_names *names)
{
	ruby_class_forget(names);
	*names = (struct ruby_names){ 0 };
}
