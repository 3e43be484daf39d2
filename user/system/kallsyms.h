/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of the running kernel and its modules, from /proc/kallsyms. Modules choose their
 * names: untrusted bytes. Plain data once read.
 */
#ifndef SYSTEM_KALLSYMS_H
#define SYSTEM_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kallsyms;

/* The location of a kernel address. Strings belong to the list. */
struct kallsyms_place {
	const char *function;
	const char *module; /* "nf_conntrack"; NULL = the kernel itself */
	uint64_t offset; /* bytes from the start of the function */
};

/*
 * Parse `length` bytes of text; keeps no pointer to it. Skips lines that are not functions. Free
 * with kallsyms_free.
 */
struct kallsyms *kallsyms_parse(const char *text, size_t length);

/*
 * Read a file, "/proc/kallsyms" or a test's. Returns 0; -EPERM if the kernel hides all addresses
 * from this process; -EFBIG if it is implausibly long; or another negative errno.
 */
int kallsyms_read(const char *path, struct kallsyms **ret_symbols);

/* Accepts NULL. */
void kallsyms_free(struct kallsyms *symbols);

/* The number of functions. */
size_t kallsyms_count(const struct kallsyms *symbols);

/*
 * The function that contains an address: the last one to begin at or before it. False if none
 * begins within KALLSYMS_FUNCTION_MAX bytes.
 */
bool kallsyms_find(const struct kallsyms *symbols, uint64_t address,
		   struct kallsyms_place *ret_place);

/* Bytes; no function is longer. */
#define KALLSYMS_FUNCTION_MAX (1u << 20)

#endif
