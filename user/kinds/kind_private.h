/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of the census of kinds. */
#ifndef KINDS_KIND_PRIVATE_H
#define KINDS_KIND_PRIVATE_H

#include "base/strings.h"
#include "base/table.h"
#include "kinds/kind.h"
#include "kinds/kind_blocks.h"
#include "kinds/kind_pointers.h"
#include "kinds/kind_tree.h"

struct kind_row {
	const char *kind; /* static */
	const char *name; /* in `names`; NULL = none */
	const char *holder; /* in `names`; NULL = none found, or not searched */
	uint64_t size; /* 0 = several */
	uint64_t blocks, bytes;
	/* Blocks compared with the previous census; 0 before kind_census_follow. */
	uint64_t born, gone, unchanged, written, retained;
	uint64_t blocks_before, bytes_before;
	double blocks_variance, bytes_variance; /* variances for a sample; 0 = complete */
	uint64_t address; /* of one of its blocks; 0 = none */
	uint32_t index; /* index in `rows`; KIND_REST = not in it */
};

#define KIND_REST UINT32_MAX
#define KIND_LOOK 256 /* bytes examined of a block */

struct kind_census {
	struct image *image;
	const struct module_ranges *modules;
	struct strings names;
	struct table signs; /* by word: struct kind_sign */
	struct table by_key; /* struct kind_row */
	struct kind_row **rows;
	size_t row_count, row_capacity;
	struct kind_row rest; /* blocks beyond the limit of rows */
	uint64_t blocks, looked, every;
	uint64_t most; /* examined blocks until `every` is doubled */
	bool is_kept; /* `list` has the examined blocks */
	struct kind_blocks list;
	struct kind_pointers pointers; /* pointers in these blocks */
	struct kind_trees trees;
	uint32_t number; /* number of the census, from 1, while blocks are followed */
	bool is_followed;
};

/* The key of a row: texts in the census's pool, or NULL; `kind` is static. */
struct kind_key {
	const char *kind, *name, *holder;
	uint64_t size;
};

/* The row of a kind; created if there is room. */
struct kind_row *kind_census_row(struct kind_census *census, const struct kind_key *key);
/*
 * Text of an address in a module: "libfoo.so+0x12a0", the address in the file, with marks
 * (kind_names.h).
 */
const char *kind_census_place(struct kind_census *census, const struct module_range *range,
			      uint64_t address);

/* Is the block at `address` in a sample of one in `every`? Larger samples include smaller ones. */
bool kind_census_takes(uint64_t address, uint64_t every);

#endif
