/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The programs and libraries that a process has mapped, divided into code, constants and data by
 * the program headers in its memory. For claims, for the search for roots, and to decide whether a
 * word points into a module.
 */
#ifndef IMAGE_MODULE_RANGES_H
#define IMAGE_MODULE_RANGES_H

#include "image/image.h"

struct claims;

enum module_range_kind {
	MODULE_CODE,
	MODULE_CONSTANTS,
	MODULE_RELRO, /* written by the loader, read-only since */
	MODULE_DATA,
	/* Ends where the headers place it, even if the kernel has merged its mapping with others */
	MODULE_BSS,
};

struct module_range {
	uint64_t start, end; /* pages */
	enum module_range_kind kind;
	uint32_t module; /* index in `modules` */
};

struct mapped_module {
	char *name; /* the path of the mapping; untrusted text, owned */
	uint64_t device, inode;
	uint64_t bias; /* memory address minus file address */
	uint64_t tls_size; /* size of its thread-local storage in each thread */
};

struct module_ranges {
	struct mapped_module *modules;
	size_t module_count, module_capacity;
	/*
	 * In address order, not overlapping. Each lies in mappings of its file, or in anonymous
	 * ones that follow.
	 */
	struct module_range *items;
	size_t count, capacity;
};

/*
 * Never fails. A file mapped as data, with its code not where its headers place it, is no module.
 * Skips headers that are neither in memory nor readable from the file. Free with
 * module_ranges_free.
 */
void module_ranges_find(struct image *image, struct module_ranges *ret_ranges);
void module_ranges_free(struct module_ranges *ranges);
/* The range containing `address`, or NULL. */
const struct module_range *module_ranges_at(const struct module_ranges *ranges, uint64_t address);
/* Is it writable: MODULE_DATA or MODULE_BSS? */
bool module_range_is_writable(const struct module_range *range);

#endif
