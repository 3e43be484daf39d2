/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the census of kinds share. See kind.h. */
#ifndef HEAP_KIND_PRIVATE_H
#define HEAP_KIND_PRIVATE_H

#include "base/strings.h"
#include "base/table.h"
#include "heap/kind.h"
#include "heap/kind_blocks.h"
#include "heap/kind_pointers.h"
#include "heap/kind_tree.h"

struct kind_row {
	const char *kind; /* static */
	const char *name; /* in `names`; NULL = none */
	const char *holder; /* in `names`; NULL = none was found, or looked for */
	uint64_t size; /* 0 = several */
	uint64_t blocks, bytes;
	/* Blocks, against the census before; 0 before kind_census_follow. */
	uint64_t born, gone, unchanged, written, retained;
	uint64_t blocks_before, bytes_before;
	double blocks_variance, bytes_variance; /* of what a sample shows; 0 = all were seen */
	uint64_t address; /* of one of its blocks; 0 = there is none */
	uint32_t index; /* in `rows`; KIND_REST = not there */
};

#define KIND_REST UINT32_MAX
#define KIND_LOOK 256 /* bytes of a block that are looked at */

struct kind_census {
	struct image *image;
	const struct module_ranges *modules;
	struct strings names;
	struct table signs; /* of words, struct kind_sign */
	struct table by_key; /* struct kind_row */
	struct kind_row **rows;
	size_t row_count, row_capacity;
	struct kind_row rest; /* for which there were no rows left */
	uint64_t blocks, looked, every;
	uint64_t most; /* blocks that are looked at until `every` is doubled */
	bool is_kept; /* `list` has the blocks that were looked at */
	struct kind_blocks list;
	struct kind_pointers pointers; /* of these */
	struct kind_trees trees;
	uint32_t number; /* of the census, since blocks are followed: the first is 1 */
	bool is_followed;
};

/* What makes a row: texts in the census's pool, or NULL; `kind` is static. */
struct kind_key {
	const char *kind, *name, *holder;
	uint64_t size;
};

/* The row of a kind, which is added if there is room. */
struct kind_row *kind_census_row(struct kind_census *census, const struct kind_key *key);
/* A place in a module: "libfoo.so+0x12a0", the address in the file, marked (kind_names.h). */
const char *kind_census_place(struct kind_census *census, const struct module_range *range,
			      uint64_t address);

/* Is the block at `address` in a sample of one in `every`? A sample holds those of all that are smaller. */
bool kind_census_takes(uint64_t address, uint64_t every);

#endif
