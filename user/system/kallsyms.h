/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of the running kernel and its modules, as /proc/kallsyms lists them. Modules choose the names of theirs: these are
 * bytes from outside. Plain data after it is read.
 */
#ifndef SYSTEM_KALLSYMS_H
#define SYSTEM_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kallsyms;

/* Where an address of the kernel's is. Texts are the list's. */
struct kallsyms_place {
	const char *function;
	const char *module; /* "nf_conntrack"; NULL = the kernel itself */
	uint64_t offset; /* bytes from where the function begins */
};

/* From a text of `length` bytes, of which a copy is made. What is no line of a function is left out. Free with kallsyms_free. */
struct kallsyms *kallsyms_parse(const char *text, size_t length);

/*
 * From a file: "/proc/kallsyms", or that of a test. Returns 0; -EPERM if the kernel hides all addresses from this process; -EFBIG if
 * it is longer than any such file; or another negative errno.
 */
int kallsyms_read(const char *path, struct kallsyms **ret_symbols);

/* Accepts NULL. */
void kallsyms_free(struct kallsyms *symbols);

/* Functions that are known. */
size_t kallsyms_count(const struct kallsyms *symbols);

/* The function that begins at an address or nearest before it. False if there is none within KALLSYMS_FUNCTION_MAX bytes. */
bool kallsyms_find(const struct kallsyms *symbols, uint64_t address,
		   struct kallsyms_place *ret_place);

/* No function is longer. */
#define KALLSYMS_FUNCTION_MAX (1u << 20)

#endif
