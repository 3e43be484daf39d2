/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What leads to one block, and the way on which the process reaches it: plain data, which owns all that it points to. */
#ifndef MODEL_LEAK_WHO_H
#define MODEL_LEAK_WHO_H

#include "model/leak_report.h"

/* A word with an address, and what it is in: a block, or a root. */
struct leak_link {
	/* 0 = in no memory: a register, the kernel; or not known which word of the block. */
	uint64_t place;
	uint64_t into; /* bytes behind the start of what it leads to */
	uint64_t block, size; /* that it is in; 0 = a root */
	enum leak_root root;
	pid_t tid; /* whose stack, storage or register it is; 0 = not known */
	/* As of a memory_kind, of a block; of a root its name, such as a variable's: untrusted. "" = none. */
	const char *kind, *name;
};

struct leak_links {
	struct leak_link *items; /* owned */
	size_t count, capacity;
};

/* {0} with `asked` is a question. Strings are in its pool, or static. */
struct leak_who {
	uint64_t asked; /* an address */
	uint64_t address, size; /* of the block that holds it */
	enum leak_verdict verdict;
	const char *kind, *name; /* of it */
	/* Why it is only possible, where no word leads to it; "" = nothing to add. */
	const char *note;
	struct leak_links holders; /* all words that lead to it, roots first */
	uint64_t holder_count; /* also those that are not listed */
	/* From a root, or what is lost, to the block, which is not in it. Empty: nothing leads to it. */
	struct leak_links way;
	uint64_t left_out; /* links in the middle of the way that are not listed */
	struct strings names;
};

struct leak_link *leak_who_add(struct leak_links *links);
void leak_who_free(struct leak_who *who);

#endif
