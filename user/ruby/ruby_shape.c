/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See ruby_shape.h. */
#include "ruby/ruby_shape.h"

#define SHAPE_NAME 8
#define SHAPE_NEXT_INDEX 16
#define SHAPE_PARENT 28
#define SHAPES_MAX (1u << 20)
#define SHAPE_DEPTH_MAX 4096
#define NUMBER_SHIFT 32 /* in an object's flags */
/* Bytes of the struct of the virtual machine that are searched. */
#define VM_SIZE 4096u

static uint32_t shape_half(struct image *image, uint64_t address)
{
	uint32_t half;

	return image_read(image, address, &half, sizeof(half)) ? half : 0;
}

/* The root comes first, and parents come before their children; shapes of slot sizes have none. */
bool ruby_shape_open(struct image *image, uint32_t size, const uint64_t words[RUBY_SHAPE_WORDS],
		     struct ruby_shapes *ret_shapes)
{
	uint64_t count = words[2] & UINT32_MAX, parent, i;

	if (!words[0] || words[0] != words[1] || words[0] & 7 || count < 4 || count > SHAPES_MAX ||
	    shape_half(image, words[0] + SHAPE_PARENT) < count)
		return false;
	for (i = 1; i < 4; i++) {
		parent = shape_half(image, words[0] + i * size + SHAPE_PARENT);
		if (parent >= i && parent < count)
			return false;
	}
	if (!image_holds(image, words[0], count * size))
		return false;
	*ret_shapes = (struct ruby_shapes){ words[0], count, size };
	return true;
}

void ruby_shape_find(const struct ruby_heap *heap, struct ruby_shapes *ret_shapes)
{
	uint64_t words[VM_SIZE / 8];
	size_t count, i;

	*ret_shapes = (struct ruby_shapes){ 0 };
	if (!heap->layout->shape_size || !heap->vm || heap->vm & 7)
		return;
	count = image_read_part(heap->image, heap->vm, words, sizeof(words)) / 8;
	for (i = 0; i + RUBY_SHAPE_WORDS <= count; i++)
		if (ruby_shape_open(heap->image, heap->layout->shape_size, words + i, ret_shapes))
			return;
}

/* Shapes of other kinds than variables have the position of the variable before them. */
uint64_t ruby_shape_name(struct image *image, const struct ruby_shapes *shapes, uint64_t flags,
			 uint64_t index)
{
	uint64_t shape = flags >> NUMBER_SHIFT, address, name;
	unsigned int depth;

	for (depth = 0; depth < SHAPE_DEPTH_MAX && shape < shapes->count; depth++) {
		address = shapes->list + shape * shapes->size;
		name = image_word(image, address + SHAPE_NAME);
		if (name && shape_half(image, address + SHAPE_NEXT_INDEX) == index + 1)
			return name;
		shape = shape_half(image, address + SHAPE_PARENT);
	}
	return 0;
}

int64_t ruby_shape_index(struct image *image, const struct ruby_shapes *shapes, uint64_t flags,
			 uint64_t id)
{
	uint64_t shape = flags >> NUMBER_SHIFT, address;
	unsigned int depth;

	for (depth = 0; depth < SHAPE_DEPTH_MAX && shape < shapes->count; depth++) {
		address = shapes->list + shape * shapes->size;
		if (image_word(image, address + SHAPE_NAME) == id)
			return (int64_t)shape_half(image, address + SHAPE_NEXT_INDEX) - 1;
		shape = shape_half(image, address + SHAPE_PARENT);
	}
	return -1;
}
