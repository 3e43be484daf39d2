/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts Ruby's code in memory (iseqs) by source file. */
#ifndef RUBY_RUBY_CODE_H
#define RUBY_RUBY_CODE_H

#include "model/memory_report.h"
#include "ruby/ruby_class.h"

/* {0} is empty. */
struct ruby_code {
	uint64_t *bodies; /* owned: addresses */
	size_t count, capacity;
};

/* Add an object if it is code. */
void ruby_code_put(struct ruby_code *code, const struct ruby_slot *slot);

/*
 * Read them all, and fill in the runtime's `files`; keeps names in `strings`. Bytes are those of
 * bodies and instructions, without tables. Frees the list.
 */
void ruby_code_report(struct ruby_code *code, struct ruby_names *names, struct strings *strings,
		      struct memory_runtime *runtime);

#endif
