/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of a folder with debug files in any layout, by their build IDs, which a worker decodes: here is only looked
 * whether they are ELF files.
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
	bool cut; /* there are more files, or deeper folders, than are looked at */
};

/* List what is in `folder` and below. Links to folders are not followed below it. */
void debug_index_list(struct debug_index *index, const char *folder);

/* A descriptor of a file if it is an ELF file, or -1. */
int debug_index_open(const struct debug_index *index, size_t number);

/* Could it be the wanted file: by its build ID, or where a name is wanted, by that? */
bool debug_index_fits(const struct debug_index *index, size_t number,
		      const struct debug_want *want);

void debug_index_free(struct debug_index *index);

#endif
