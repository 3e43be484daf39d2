/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The longest strings, arrays and hashes of a census of Ruby's objects. */
#ifndef OBJECTS_RUBY_LONGEST_H
#define OBJECTS_RUBY_LONGEST_H

#include "model/memory_report.h"
#include "objects/ruby_holders.h"

#define RUBY_LONGEST 3 /* of each */

enum ruby_longest_kind {
	RUBY_LONGEST_STRING,
	RUBY_LONGEST_ARRAY,
	RUBY_LONGEST_HASH,
	RUBY_LONGEST_KINDS
};

struct ruby_longest_item {
	uint64_t address; /* of the object */
	uint64_t length; /* bytes, elements or pairs */
	uint64_t bytes; /* beyond the slot */
};

/* {0} is empty. Of each kind the longest comes first. */
struct ruby_longest {
	struct ruby_longest_item items[RUBY_LONGEST_KINDS][RUBY_LONGEST];
};

/* What takes little beyond its slot is not kept. */
void ruby_longest_put(struct ruby_longest *longest, enum ruby_longest_kind kind,
		      const struct ruby_longest_item *item);

/* Put a string or an array, or a hash that has its table in its slot, with the bytes that it takes beyond. */
void ruby_longest_put_slot(struct ruby_longest *longest, const struct ruby_objects_layout *layout,
			   const struct ruby_slot *slot, uint64_t bytes);

/* Add them to the runtime's. With `samples`, how strings begin. */
void ruby_longest_report(const struct ruby_longest *longest, const struct ruby_names *names,
			 bool samples, struct memory_runtime *runtime);

/* Fill in who holds them: in the order in which ruby_longest_report has added them. */
void ruby_longest_hold(const struct ruby_holders *holders, bool samples,
		       struct memory_runtime *runtime);

#endif
