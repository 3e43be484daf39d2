/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See python_code.h. */
#include "python/python_code.h"

#include <string.h>

#include "python/python_text.h"

#define FILES_MAX (1u << 16)

static uint64_t code_word(const unsigned char *object, size_t length, uint32_t offset)
{
	uint64_t word;

	if (offset + sizeof(word) > length)
		return 0;
	memcpy(&word, object + offset, sizeof(word));
	return word;
}

void python_code_put(struct python_code *code, const struct python_heap *heap,
		     const unsigned char *object, size_t length, uint64_t size)
{
	const struct python_release *offsets = heap->offsets;
	struct object_class *file;

	code->files.max_classes = FILES_MAX;
	file = object_table_get(&code->files, code_word(object, length, offsets->code_file));
	file->live++;
	file->other_bytes +=
		size + python_heap_room(heap, code_word(object, length, offsets->code_lines));
	if (offsets->code_instructions)
		file->other_bytes += python_heap_room(
			heap, code_word(object, length, offsets->code_instructions));
}

static void code_name(void *context, uint64_t id, char *ret_name, size_t size)
{
	struct python_heap *heap = context;

	python_text_read(heap->image, heap->offsets, id, ret_name, size);
}

void python_code_report(struct python_code *code, struct python_heap *heap, struct strings *strings,
			struct memory_runtime *runtime)
{
	const struct object_namer namer = { code_name, heap };
	struct memory_runtime rows = { 0 };

	object_table_report(&code->files, &namer, strings, &rows);
	runtime->files = rows.classes;
	runtime->file_count = rows.class_count;
	object_table_free(&code->files);
}
