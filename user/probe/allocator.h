/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of allocator functions: names and call shapes. A new allocator is rows here, no BPF code.
 *
 * A row defines in which files it applies. Most do wherever the symbol is defined. The C++ operators may call
 * malloc and free, as those of libstdc++ do: then the block is seen there. Those of allocators, and those
 * that a program replaces by its own, may serve `new` without entering malloc.
 */
#ifndef PROBE_ALLOCATOR_H
#define PROBE_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum allocator_scope {
	SCOPE_ANY = 0, /* wherever the symbol is defined */
	SCOPE_OPERATOR, /* a C++ operator: wherever it does not just call another function */
	SCOPE_OPERATOR_SIZE, /* one that may ask the other function for more bytes than it was asked for */
	SCOPE_OWN_HEAP, /* only where malloc and free are defined too, and not in a C library */
};

struct allocator_function {
	const char *symbol; /* name in the dynamic symbol table */
	const char *name; /* name in reports */
	uint64_t shape; /* SHAPE(...) of tracer_abi.h */
	enum allocator_scope scope;
	uint64_t fixed_size; /* bytes of every block, if no argument has it */
};

/* The functions in order of preference when several names are at one address. Ended by symbol NULL. */
const struct allocator_function *allocator_functions(void);

/* The symbols that identify allocators, for those who gather them before asking. Ended by NULL. */
const char *allocator_marker(size_t index);

/*
 * The allocator in a file, by the symbols that it defines: "glibc", "musl", "jemalloc", ... or
 * "unknown". `defines` answers whether the file defines a symbol.
 */
const char *allocator_identify(int (*defines)(void *context, const char *symbol), void *context);

/*
 * The same for a file with C++ operators but without malloc, for which allocator_identify returned
 * `allocator`.
 */
const char *allocator_of_operators(const char *allocator);

/* Is this the dynamic loader's own allocator, which serves only itself? */
bool allocator_is_loader(const char *allocator);

/*
 * Does a row apply in a file of this allocator? `own_heap`: the file defines both malloc and free.
 */
bool allocator_applies(const struct allocator_function *function, const char *allocator,
		       bool own_heap);

/*
 * Can the C++ operators in a file of this allocator be skipped if they call its functions, or those
 * of another file? Not in an allocator that replaces the C library's: its operators have other ways
 * to a block.
 */
bool allocator_operators_forward(const char *allocator, bool own_heap);

/*
 * Does this allocator have its own memory? Others may be wrappers, whose functions call those of
 * another file.
 */
bool allocator_is_known(const char *allocator);

/* Is this the name of a function that allocates or frees, or of a C++ operator? */
bool allocator_has_function(const char *symbol);

/* The argument positions that BPF programs read at the entry: bit n for position n, 1 to 6. */
uint32_t allocator_arguments(uint64_t shape);

#endif
