/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ruby's code in memory (iseqs), added up by the file that it is from. */
#ifndef OBJECTS_RUBY_CODE_H
#define OBJECTS_RUBY_CODE_H

#include "model/memory_report.h"
#include "objects/ruby_class.h"

/* {0} is empty. */
struct ruby_code {
	uint64_t *bodies; /* owned: addresses */
	size_t count, capacity;
};

/* Put an object, which is counted if it is code. */
void ruby_code_put(struct ruby_code *code, const struct ruby_slot *slot);

/*
 * Read them all, and add them up in the runtime's `files`; their names are kept in `strings`. Bytes are those of the code's body and instructions,
 * without its tables. Frees what was put.
 */
void ruby_code_report(struct ruby_code *code, struct ruby_names *names, struct strings *strings,
		      struct memory_runtime *runtime);

#endif
