/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collects the longest strings, arrays and hashes in a census of Ruby's objects. */
#ifndef RUBY_RUBY_LONGEST_H
#define RUBY_RUBY_LONGEST_H

#include "model/memory_report.h"
#include "ruby/ruby_holders.h"

#define RUBY_LONGEST 3 /* per kind */

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

/* {0} is empty. By kind, longest first. */
struct ruby_longest {
	struct ruby_longest_item items[RUBY_LONGEST_KINDS][RUBY_LONGEST];
};

/* Add an object; ignores small ones. */
void ruby_longest_put(struct ruby_longest *longest, enum ruby_longest_kind kind,
		      const struct ruby_longest_item *item);

/* Add a string, an array, or a hash with its table in its slot; `bytes`: beyond its slot. */
void ruby_longest_put_slot(struct ruby_longest *longest, const struct ruby_release *layout,
			   const struct ruby_slot *slot, uint64_t bytes);

/* Add them to the runtime; with `samples`, including the start of strings. */
void ruby_longest_report(const struct ruby_longest *longest, const struct ruby_names *names,
			 bool samples, struct memory_runtime *runtime);

/* Fill in their holders; after ruby_longest_report. */
void ruby_longest_hold(const struct ruby_holders *holders, bool samples,
		       struct memory_runtime *runtime);

#endif
