/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ruby_code.h. */
#include "ruby/ruby_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "image/window.h"
#include "objects/object_table.h"

#define INTERNAL_SHIFT 12
#define INTERNAL_MASK 15u
#define INTERNAL_CODE 7u
#define CODE_BODY 16

/* The body of code: the number of its instructions' words, and the path, a string or an array that begins with it. */
#define BODY_SIZE 72
#define BODY_WORDS 4
#define BODY_PATH 64
#define WORDS_MAX (1u << 24)
#define BODIES_MAX (1u << 21)

#define ARRAY_EMBEDDED (1ull << 13)
#define WINDOW_SIZE (16u << 10)
#define FILES_MAX (1u << 16)

void ruby_code_put(struct ruby_code *code, const struct ruby_slot *slot)
{
	uint64_t body;

	if (slot->type != RUBY_T_IMEMO ||
	    (slot->flags >> INTERNAL_SHIFT & INTERNAL_MASK) != INTERNAL_CODE)
		return;
	body = ruby_slots_word(slot, CODE_BODY);
	if (!body || body & 7 || code->count == BODIES_MAX)
		return;
	code->bodies =
		memory_grow(code->bodies, code->count, &code->capacity, sizeof(code->bodies[0]));
	code->bodies[code->count++] = body;
}

static int code_compare(const void *left, const void *right)
{
	return compare_numbers(*(const uint64_t *)left, *(const uint64_t *)right);
}

static void code_name(void *context, uint64_t path, char *ret_name, size_t size)
{
	struct ruby_names *names = context;
	struct image *image = names->heap->image;
	uint64_t flags = image_word(image, path);

	if ((flags & (RUBY_TYPES - 1)) == RUBY_T_ARRAY)
		path = flags & ARRAY_EMBEDDED ? image_word(image, path + 16)
					      : image_word(image, image_word(image, path + 32));
	ruby_class_string(names, path, ret_name, size);
}

static void code_count(struct object_table *files, uint64_t body_size, const unsigned char *body)
{
	struct object_class *file;
	uint64_t path;
	uint32_t words;

	memcpy(&path, body + BODY_PATH, sizeof(path));
	memcpy(&words, body + BODY_WORDS, sizeof(words));
	file = object_table_get(files, path);
	file->live++;
	file->other_bytes += body_size + (words < WORDS_MAX ? words * 8ull : 0);
}

void ruby_code_report(struct ruby_code *code, struct ruby_names *names, struct strings *strings,
		      struct memory_runtime *runtime)
{
	const struct object_namer namer = { code_name, names };
	struct object_table files = { .max_classes = FILES_MAX };
	struct memory_runtime rows = { 0 };
	struct window window;
	size_t i;

	if (code->count)
		qsort(code->bodies, code->count, sizeof(code->bodies[0]), code_compare);
	window_open(&window, names->heap->image, WINDOW_SIZE);
	for (i = 0; i < code->count; i++) {
		const unsigned char *body = window_get(&window, code->bodies[i], BODY_SIZE);

		if (body)
			code_count(&files, names->heap->layout->code_size, body);
	}
	window_close(&window);
	object_table_report(&files, &namer, strings, &rows);
	runtime->files = rows.classes;
	runtime->file_count = rows.class_count;
	object_table_free(&files);
	free(code->bodies);
	*code = (struct ruby_code){ 0 };
}
