/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shapes of Ruby's objects, since 3.2: a list in which each shape adds one variable to its parent.
 * An object's flags have the number of its shape.
 */
#ifndef RUBY_RUBY_SHAPE_H
#define RUBY_RUBY_SHAPE_H

#include "ruby/ruby_heap.h"

struct ruby_shapes {
	uint64_t list; /* 0 = not found */
	uint64_t count;
	uint32_t size; /* of one, in bytes */
};

/* Do `words` describe the list: start, root, number of shapes? If so, sets `ret_shapes`. */
#define RUBY_SHAPE_WORDS 3
bool ruby_shape_open(struct image *image, uint32_t size, const uint64_t words[RUBY_SHAPE_WORDS],
		     struct ruby_shapes *ret_shapes);

/* Find the list in the struct of the virtual machine, in releases that export it. */
void ruby_shape_find(const struct ruby_heap *heap, struct ruby_shapes *ret_shapes);

/*
 * The ID of the variable at a position, or the position of the variable with an ID, in an object
 * with these flags; 0, -1: none.
 */
uint64_t ruby_shape_name(struct image *image, const struct ruby_shapes *shapes, uint64_t flags,
			 uint64_t index);
int64_t ruby_shape_index(struct image *image, const struct ruby_shapes *shapes, uint64_t flags,
			 uint64_t id);

#endif
