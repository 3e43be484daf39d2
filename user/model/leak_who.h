/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The answer to --who: what points to a block, and the path from a root to it. Plain data; owns all
 * that it points to.
 */
#ifndef MODEL_LEAK_WHO_H
#define MODEL_LEAK_WHO_H

#include "model/leak_report.h"

/* A pointer, and the block or root that contains it. */
struct leak_link {
	/*
	 * Address of the pointer; 0 = not in memory (a register, the kernel), or unknown within the
	 * block.
	 */
	uint64_t place;
	uint64_t into; /* offset into the block that it points to */
	uint64_t block, size; /* the block containing it; 0 = a root */
	enum leak_root root;
	pid_t tid; /* owner of the stack, TLS or register; 0 = unknown */
	/*
	 * For a block, see memory_kind; for a root its name, such as a variable's: untrusted. "" =
	 * none.
	 */
	const char *kind, *name;
};

struct leak_links {
	struct leak_link *items; /* owned */
	size_t count, capacity;
};

/* Start with {0} and `asked`. Strings are in its pool, or static. */
struct leak_who {
	uint64_t asked; /* an address */
	uint64_t address, size; /* the block containing it */
	enum leak_verdict verdict;
	const char *kind, *name; /* of it */
	/* Why it is only possibly lost, if nothing points to it; "" = no note. */
	const char *note;
	struct leak_links holders; /* all pointers to it, roots first */
	uint64_t holder_count; /* total, including unlisted ones */
	/*
	 * Path from a root, or a lost block, to the block, excluding it. Empty: nothing points to
	 * it.
	 */
	struct leak_links way;
	uint64_t left_out; /* number of links omitted in the middle of the path */
	struct strings names;
};

struct leak_link *leak_who_add(struct leak_links *links);
void leak_who_free(struct leak_who *who);

#endif
