/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of Ruby's classes, in the memory of a live process. */
#ifndef OBJECTS_RUBY_CLASS_H
#define OBJECTS_RUBY_CLASS_H

#include <stddef.h>

#include "base/table.h"
#include "objects/ruby_heap.h"
#include "objects/ruby_shape.h"

struct ruby_names {
	struct ruby_heap *heap;
	/* Of a class's own name among its variables, where these have it; 0 = not found. */
	uint64_t key;
	struct ruby_shapes shapes; /* where these have the positions of variables */
	struct table reals; /* what was looked up: class -> what the program sees as it */
	struct table paths; /* class -> its name, owned */
};

/* Close it with ruby_class_close. */
void ruby_class_open(struct ruby_heap *heap, struct ruby_names *ret_names);
void ruby_class_close(struct ruby_names *names);
/* Forget what was looked up: classes may have gone since. */
void ruby_class_forget(struct ruby_names *names);

/*
 * The class that the program sees as the object's: without classes of one object and included modules. 0 = none. Bounded, whatever
 * the memory holds.
 */
uint64_t ruby_class_real(struct ruby_names *names, uint64_t class);

/* The class's path, "App::Session", or "" if it has none or it cannot be read; not made safe. Returns its length. */
size_t ruby_class_name(struct ruby_names *names, uint64_t class, char *ret_name, size_t size);

/* The bytes of a string object, at most `size` - 1 of them, and a NUL; returns how many, 0 = none, or it is no string. */
size_t ruby_class_string(const struct ruby_names *names, uint64_t string, char *ret_text,
			 size_t size);

#endif
