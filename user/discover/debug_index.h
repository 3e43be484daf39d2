/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Indexes a directory of debug files in any layout by their build IDs, which a worker decodes; here
 * files are only checked to be ELF.
 */
#ifndef DISCOVER_DEBUG_INDEX_H
#define DISCOVER_DEBUG_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "discover/debug_want.h"

struct debug_index_file {
	char *path;
	unsigned char build_id[BUILD_ID_MAX];
	size_t build_id_size; /* bytes; 0 = none, or not known yet */
};

struct debug_index {
	struct debug_index_file *items;
	size_t count, capacity;
	bool cut; /* truncated: too many files, or too deep */
};

/* List `folder` recursively. Links to directories are not followed below it. */
void debug_index_list(struct debug_index *index, const char *folder);

/* A descriptor of a file if it is an ELF file, or -1. */
int debug_index_open(const struct debug_index *index, size_t number);

/* Can it be the wanted file, by build ID, or, if a name is wanted, by name? */
bool debug_index_fits(const struct debug_index *index, size_t number,
		      const struct debug_want *want);

void debug_index_free(struct debug_index *index);

#endif
