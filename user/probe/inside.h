/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds places inside glibc's malloc and calloc where the result is in a register, at an
 * instruction that the kernel emulates: one probe there sees what entry and return would see, at
 * the price of one trap.
 *
 * Each function tests the result of _int_malloc for NULL, and malloc tests the alignment of what it
 * takes from the thread's cache. The search proves from the code that on each path from the entry
 * to a return either the result is NULL, or exactly one of the places is passed with the result in
 * its register. Without a proof, there are none.
 */
#ifndef PROBE_INSIDE_H
#define PROBE_INSIDE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer_abi.h"

#define INSIDE_MAX 12

struct inside_site {
	uint64_t offset; /* from the function's entry */
	uint8_t length; /* of the instruction, bytes */
	uint32_t stack_bytes; /* growth of the stack since the entry */
	uint8_t result; /* register with the result, in instruction encoding */
	uint8_t size; /* register with the requested bytes, or INSIDE_NOTED */
	/* Where the frame pointer is saved, in words below the return address; 0 = not saved */
	uint8_t saved_bp;
	bool is_call; /* no result yet: a call at which to note the size */
};

struct inside {
	struct inside_site sites[INSIDE_MAX];
	size_t count;
	/* Address of the function that they call for blocks, relative like `address` */
	uint64_t allocates;
	const char *refusal; /* why there are none: static phrase */
};

/*
 * Find the places in a function's code, at virtual address `address`. `multiplies`: the size is the
 * product of the first two arguments. `allocates`: the address of _int_malloc, if known from
 * another function; 0 = the most frequently called one. `returns_first`: does the target of a jump
 * return its first argument? False with a refusal.
 */
bool inside_find(const uint8_t *code, size_t size, uint64_t address, bool multiplies,
		 uint64_t allocates, bool (*returns_first)(void *context, uint64_t target),
		 void *context, struct inside *ret);

#endif
