/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of allocator functions: names and call shapes. A new allocator is rows here, no BPF code. */
#ifndef PROBE_ALLOCATOR_H
#define PROBE_ALLOCATOR_H

#include <stddef.h>
#include <stdint.h>

struct allocator_function {
	const char *symbol; /* as the dynamic symbol table has it */
	const char *name; /* as the reports show it */
	uint64_t shape; /* SHAPE(...) of tracer_abi.h */
};

/* The functions in order of preference when several names stand at one address. Ended by symbol NULL. */
const struct allocator_function *allocator_functions(void);

/*
 * Which allocator a file holds, told by the symbols it defines: "glibc", "musl", "jemalloc", ... or
 * "unknown". `defines` answers whether the file defines a symbol.
 */
const char *allocator_identify(int (*defines)(void *context, const char *symbol), void *context);

#endif
