/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the names of Ruby's classes in the memory of a live process. */
#ifndef RUBY_RUBY_CLASS_H
#define RUBY_RUBY_CLASS_H

#include <stddef.h>

#include "base/table.h"
#include "ruby/ruby_heap.h"
#include "ruby/ruby_shape.h"

struct ruby_names {
	struct ruby_heap *heap;
	/* Key of a class's own name among its variables, if it is stored there; 0 = not found. */
	uint64_t key;
	struct ruby_shapes shapes; /* if shapes have the positions of variables */
	struct table reals; /* cache: class -> class as the program sees it */
	struct table paths; /* class -> its name, owned */
};

/* Close it with ruby_class_close. */
void ruby_class_open(struct ruby_heap *heap, struct ruby_names *ret_names);
void ruby_class_close(struct ruby_names *names);
/* Drop the caches: classes may have gone since. */
void ruby_class_forget(struct ruby_names *names);

/*
 * The class of an object as the program sees it: skips singleton classes and included modules. 0 =
 * none. Bounded, whatever the memory contains.
 */
uint64_t ruby_class_real(struct ruby_names *names, uint64_t class);

/*
 * The class's path, "App::Session", or "" if it has none or cannot be read; unescaped. Returns its
 * length.
 */
size_t ruby_class_name(struct ruby_names *names, uint64_t class, char *ret_name, size_t size);

/*
 * Read a string object, at most `size` - 1 bytes, terminated; returns their number, 0 = empty, or
 * not a string.
 */
size_t ruby_class_string(const struct ruby_names *names, uint64_t string, char *ret_text,
			 size_t size);

#endif
