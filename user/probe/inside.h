/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where inside of glibc's malloc and calloc the result is in a register, at an instruction that the kernel need not single-step: one
 * probe there sees what entry and return would see, for the price of one trap.
 *
 * Each function tests the result of _int_malloc for NULL, and malloc tests the alignment of what it takes from the thread's cache. By the
 * code it is shown that on each way from the entry to a return the result is NULL, or exactly one of the places is passed with the
 * result in its register. Where that cannot be shown, there are none.
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
	uint32_t stack_bytes; /* that the stack has grown by since the entry */
	uint8_t result; /* the register, numbered as instructions have them, with the result */
	uint8_t size; /* the register with the bytes asked for, or INSIDE_NOTED */
	uint8_t saved_bp; /* where the frame pointer is saved: words below the return address; 0 = it is not */
	bool is_call; /* no result yet: a call at which the size is to be noted */
};

struct inside {
	struct inside_site sites[INSIDE_MAX];
	size_t count;
	uint64_t allocates; /* address of the function that they call for blocks, as the code's */
	const char *refusal; /* why there are none: a phrase, static */
};

/*
 * Find the places in a function's code, at virtual address `address`. `multiplies`: the size is the product of the first two arguments.
 * `allocates`: the address of _int_malloc, if it is known from another function; 0 = it is what is called most. `returns_first`:
 * does a function that is jumped to return its first argument? False with a refusal.
 */
bool inside_find(const uint8_t *code, size_t size, uint64_t address, bool multiplies,
		 uint64_t allocates, bool (*returns_first)(void *context, uint64_t target),
		 void *context, struct inside *ret);

#endif
