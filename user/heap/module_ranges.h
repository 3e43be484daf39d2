/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The programs and libraries that a process has mapped, divided by the program headers which lie in its memory: what is code,
 * constants, data. For claims, for who looks for roots, and for who asks whether a word points into a module.
 */
#ifndef HEAP_MODULE_RANGES_H
#define HEAP_MODULE_RANGES_H

#include "heap/image.h"

struct claims;

enum module_range_kind {
	MODULE_CODE,
	MODULE_CONSTANTS,
	MODULE_RELRO, /* written by the loader, read-only since */
	MODULE_DATA,
	MODULE_BSS, /* ends where the headers have it, whatever mapping the kernel has merged it with */
};

struct module_range {
	uint64_t start, end; /* pages */
	enum module_range_kind kind;
	uint32_t module; /* in `modules` */
};

struct mapped_module {
	char *name; /* the path of the mapping; untrusted text, owned */
	uint64_t device, inode;
	uint64_t bias; /* added to addresses of the file */
	uint64_t tls_size; /* of its thread-local storage, in each thread */
};

struct module_ranges {
	struct mapped_module *modules;
	size_t module_count, module_capacity;
	/* In the order of addresses; they do not overlap. Each lies in mappings of its file, or in anonymous ones behind these. */
	struct module_range *items;
	size_t count, capacity;
};

/*
 * Never fails. A file that is mapped as data, its code not where its headers have it, is no module. Headers that are not in
 * memory, nor to be had from the file, are left out. Free with module_ranges_free.
 */
void module_ranges_find(struct image *image, struct module_ranges *ret_ranges);
void module_ranges_free(struct module_ranges *ranges);
/* The range that holds `address`, or NULL. */
const struct module_range *module_ranges_at(const struct module_ranges *ranges, uint64_t address);
/* May the process write there: MODULE_DATA or MODULE_BSS? */
bool module_range_is_writable(const struct module_range *range);

#endif
