/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the functions of the allocator table that a file defines. */
#ifndef PROBE_SCAN_H
#define PROBE_SCAN_H

#include "probe/allocator.h"
#include "elf/elf_file.h"

/* One function of the file: all names of the table at one file offset. */
struct scan_function {
	const struct allocator_function *row; /* the preferred name */
	uint64_t file_offset;
	uint64_t size; /* 0 = unknown, or the names disagree, or another function begins inside */
	bool indirect; /* STT_GNU_IFUNC */
	char aliases[128]; /* the other names, separated by blanks */
};

struct scan {
	const char *allocator; /* from allocator_identify; a static string */
	const char *walker; /* from walker_identify; a static string or NULL */
	bool own_heap; /* both malloc and free are defined */
	bool chunks; /* realloc is glibc's, which stores block sizes before blocks */
	struct scan_function *items; /* in order of file offset, then of the table */
	size_t count, capacity;
};

/*
 * Find the functions of the table in a file, and `count` more, which take precedence. Free with
 * scan_free.
 */
void scan_file(struct elf_file *file, const struct allocator_function *const *more, size_t count,
	       struct scan *ret_scan);
void scan_free(struct scan *scan);

/* Is this one of the function's names? */
bool scan_function_has_name(const struct scan_function *function, const char *name);

#endif
