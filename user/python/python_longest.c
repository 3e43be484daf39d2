/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See python_longest.h. */
#include "python/python_longest.h"

#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "python/python_text.h"

#define BYTES_MIN 4096u
#define SAMPLE_SIZE 61 /* with its NUL */
#define SET_USED 24

/* Where the length is, and the bytes that each item takes at least. */
static const struct {
	const char *name;
	uint64_t flag; /* of types */
	uint32_t length, item;
} kinds[PYTHON_LONGEST_KINDS] = {
	[PYTHON_LONGEST_STR] = { "str", PYTHON_FLAG_STR, PYTHON_STR_LENGTH, 1 },
	[PYTHON_LONGEST_BYTES] = { "bytes", PYTHON_FLAG_BYTES, PYTHON_OBJECT_SIZE, 1 },
	[PYTHON_LONGEST_LIST] = { "list", PYTHON_FLAG_LIST, PYTHON_OBJECT_SIZE, 8 },
	[PYTHON_LONGEST_DICT] = { "dict", PYTHON_FLAG_DICT, PYTHON_DICT_USED, 8 },
	[PYTHON_LONGEST_TUPLE] = { "tuple", PYTHON_FLAG_TUPLE, PYTHON_OBJECT_SIZE, 8 },
	[PYTHON_LONGEST_SET] = { "set", 0, SET_USED, 16 },
};

static enum python_longest_kind longest_kind(const struct python_type *type)
{
	enum python_longest_kind kind;

	for (kind = 0; kind < PYTHON_LONGEST_SET; kind++)
		if (type->flags & kinds[kind].flag)
			return kind;
	return type->content == PYTHON_CONTENT_SET ? PYTHON_LONGEST_SET : PYTHON_LONGEST_KINDS;
}

void python_longest_put(struct python_longest *longest, const struct python_type *type,
			uint64_t address, uint64_t bytes, const unsigned char *object,
			size_t length)
{
	struct python_longest_item item = { .address = address, .bytes = bytes }, *items;
	enum python_longest_kind kind;
	size_t place = PYTHON_LONGEST;

	if (bytes < BYTES_MIN)
		return;
	kind = longest_kind(type);
	if (kind == PYTHON_LONGEST_KINDS || kinds[kind].length + sizeof(item.length) > length)
		return;
	memcpy(&item.length, object + kinds[kind].length, sizeof(item.length));
	if (item.length > bytes / kinds[kind].item)
		return;
	items = longest->items[kind];
	while (place && items[place - 1].length < item.length)
		place--;
	if (place == PYTHON_LONGEST)
		return;
	memmove(items + place + 1, items + place, (PYTHON_LONGEST - 1 - place) * sizeof(items[0]));
	items[place] = item;
}

static char *longest_sample(struct python_heap *heap, uint64_t address)
{
	struct buffer safe = { 0 };
	char text[SAMPLE_SIZE];

	python_text_read(heap->image, heap->offsets, address, text, sizeof(text));
	text_append_safe(&safe, text);
	return safe.data;
}

void python_longest_report(const struct python_longest *longest, struct python_heap *heap,
			   bool samples, struct memory_runtime *runtime)
{
	enum python_longest_kind kind;
	size_t i;

	for (kind = 0; kind < PYTHON_LONGEST_KINDS; kind++)
		for (i = 0; i < PYTHON_LONGEST && longest->items[kind][i].address; i++) {
			const struct python_longest_item *item = &longest->items[kind][i];
			struct memory_longest *row = memory_runtime_add_longest(runtime);

			*row = (struct memory_longest){ .kind = kinds[kind].name,
							.address = item->address,
							.length = item->length,
							.bytes = item->bytes };
			if (samples && kind == PYTHON_LONGEST_STR)
				row->sample = longest_sample(heap, item->address);
		}
}
