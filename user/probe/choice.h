/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the instruction to probe: the cheapest one that is certainly equivalent to the function's
 * entry. Pure: uses only the bytes of one function.
 *
 * The site is equivalent to the entry if execution from the entry always reaches it in a straight
 * line, nothing else ever does, and what BPF programs read there is unchanged since the entry. If
 * that is not certain, the site is the entry.
 */
#ifndef PROBE_CHOICE_H
#define PROBE_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/trap.h"

struct choice_needs {
	uint32_t arguments; /* bit n: the argument at position n (1 to 6) is read at the site */
	bool stack_pointer; /* it must still point at the return address */
	bool at_entry; /* choose the entry whatever it costs */
	struct probe_features features;
};

struct choice {
	uint64_t offset; /* of the site, from the entry */
	enum probe_cost cost; /* of the site */
	/*
	 * The choice holds only if nothing outside of the function's bytes jumps behind its entry: the
	 * function jumps out, so a part of it may have been placed elsewhere. The caller checks.
	 */
	bool leaves;
	/* How much the stack has grown since the entry; 0 if its pointer is needed. */
	uint32_t stack_bytes;
	bool stub; /* the function is a jump to `stub_target` and nothing else */
	int64_t stub_target; /* from the entry */
	char instruction[64]; /* at the site; "" = not decoded */
	char reason[96]; /* why this site: a phrase */
};

/* The most bytes of a function that are decoded; a larger one is probed at its entry. */
#define CHOICE_SIZE_MAX 65536
/* The most bytes that the stack may have grown by at the site: a shape has eight bits for them. */
#define CHOICE_STACK_MAX 255

/*
 * Choose the site of the function whose first `size` bytes are `code`, at virtual address `address`. `complete`:
 * these are all bytes of the function, and no other function begins among them. Never fails.
 */
void choice_make(const uint8_t *code, size_t size, bool complete, uint64_t address,
		 const struct choice_needs *needs, struct choice *ret);

/* The site of a choice becomes the entry, for a reason that only the caller could see. */
void choice_fall_back(const uint8_t *code, size_t size, uint64_t address,
		      const struct choice_needs *needs, const char *reason, struct choice *choice);

#endif
