/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See python_sizes.h. */
#include "python/python_sizes.h"

#include <string.h>

#include "python/python_text.h"

/* No table has more items: a larger count is one that was read while it changed, or a lie. */
#define ITEMS_MAX (1ull << 40)

/* Since 3.13 values may be in the object: the third byte of them is set. */
#define VALUES_EMBEDDED 2

struct sized_object {
	struct python_heap *heap;
	const unsigned char *bytes; /* of the object, behind its head */
	size_t length;
};

static uint64_t sizes_word(const struct sized_object *object, size_t offset)
{
	uint64_t word;

	if (offset + sizeof(word) > object->length)
		return 0;
	memcpy(&word, object->bytes + offset, sizeof(word));
	return word;
}

static uint64_t sizes_items(uint64_t count, uint64_t size)
{
	return count < ITEMS_MAX ? count * size : 0;
}

/* Small tables are in the set. */
static uint64_t sizes_set(const struct sized_object *object)
{
	uint64_t mask = sizes_word(object, PYTHON_SET_MASK);

	return mask > 7 && !(mask & (mask + 1)) ? sizes_items(mask + 1, 16) : 0;
}

static uint64_t sizes_values(struct python_heap *heap, uint64_t values)
{
	unsigned char head[4];

	if (heap->offsets->minor >= 13 && image_read(heap->image, values, head, sizeof(head)) &&
	    head[VALUES_EMBEDDED])
		return 0;
	return python_heap_room(heap, values);
}

/* Keys that all objects of a class share are none of a dict's that has values of its own. The empty dict's are in a file. */
static uint64_t sizes_dict(const struct sized_object *object)
{
	uint64_t keys = sizes_word(object, PYTHON_DICT_KEYS), size;
	uint64_t values = sizes_word(object, PYTHON_DICT_VALUES);
	const struct image_mapping *mapping;
	struct python_keys read;

	if (values)
		return sizes_values(object->heap, values);
	size = python_heap_room(object->heap, keys);
	if (size)
		return size;
	mapping = image_find(object->heap->image, keys);
	if (!mapping || mapping->inode ||
	    !python_keys_read(object->heap->image, object->heap->offsets, keys, &read))
		return 0;
	return read.bytes;
}

/* Values of attributes, in front of the object, where they are no dict: that is an object of its own. */
static uint64_t sizes_attributes(struct python_heap *heap, const struct python_type *type,
				 const unsigned char *block, size_t length)
{
	const struct python_release *offsets = heap->offsets;
	uint32_t at = type->head + (uint32_t)offsets->values;
	uint64_t word;

	if (!offsets->values || !(type->flags & offsets->managed) || at + sizeof(word) > length)
		return 0;
	memcpy(&word, block + at, sizeof(word));
	if (!word || (offsets->values_tag && !(word & offsets->values_tag)))
		return 0;
	return python_heap_room(heap, word);
}

uint64_t python_sizes_other(struct python_heap *heap, const struct python_type *type,
			    const unsigned char *block, size_t length)
{
	struct sized_object object = { heap, block + type->head, length - type->head };
	uint64_t size = sizes_attributes(heap, type, block, length);

	switch (type->content) {
	case PYTHON_CONTENT_LIST:
		return size + sizes_items(sizes_word(&object, PYTHON_LIST_ALLOCATED), 8);
	case PYTHON_CONTENT_DICT:
		return size + sizes_dict(&object);
	case PYTHON_CONTENT_SET:
		return size + sizes_set(&object);
	case PYTHON_CONTENT_BYTEARRAY:
		return size + sizes_items(sizes_word(&object, PYTHON_BYTEARRAY_ALLOCATED), 1);
	case PYTHON_CONTENT_NONE:
		break;
	}
	return size;
}
