/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Classifies memory outside of blocks in the search for pointers: a stack, static data, free memory
 * of malloc ...
 */
#ifndef REACH_REACH_ROOTS_H
#define REACH_REACH_ROOTS_H

#include "image/claims.h"
#include "image/image.h"
#include "image/module_ranges.h"
#include "image/thread_list.h"
#include "model/leak_report.h"
#include "system/thread_registers.h"

struct reach_range {
	uint64_t start, end;
};

struct reach_roots {
	struct image *image;
	const struct module_ranges *modules;
	struct claims *claims; /* owned */
	bool has_glibc, has_jemalloc; /* used in the process */
	/* Memory whose words lead nowhere; in the order of addresses after reach_roots_settle. Owned. */
	struct reach_range *free_lists;
	size_t free_list_count, free_list_capacity;
};

/* All are borrowed. Free with reach_roots_free. */
void reach_roots_open(struct reach_roots *roots, struct image *image,
		      const struct module_ranges *modules, const struct thread_list *threads,
		      const struct thread_registers_list *registers);
void reach_roots_free(struct reach_roots *roots);

/*
 * Memory that an allocator's walk did not understand: it may contain blocks. Call before
 * reach_roots_add_heap.
 */
void reach_roots_add_unknown(struct reach_roots *roots, uint64_t start, uint64_t end);

/*
 * Memory with objects of a runtime, LEAK_ROOT_RUBY or LEAK_ROOT_PYTHON. Call before
 * reach_roots_add_heap.
 */
void reach_roots_add_objects(struct reach_roots *roots, uint64_t start, uint64_t end,
			     enum leak_root root);

/*
 * Memory, also in a block, in which an allocator keeps addresses of free blocks; other addresses there are
 * left from when their blocks were free. All of it must be added before reach_roots_settle.
 */
void reach_roots_add_free_list(struct reach_roots *roots, uint64_t start, uint64_t end);
void reach_roots_settle(struct reach_roots *roots);
/* Is the word at `place` in such memory? */
bool reach_roots_is_free_list(const struct reach_roots *roots, uint64_t place);

/* The kind of root at `place`, which is in no block. */
enum leak_root reach_roots_of(const struct reach_roots *roots, uint64_t place);

/*
 * Is it data of the dynamic loader? The loader aligns its allocations by hand and keeps only the
 * aligned address: what its data points into counts as held.
 */
bool reach_roots_is_loader(const struct reach_roots *roots, enum leak_root root, uint64_t place);

/* A word that points into a block. */
struct reach_word {
	uint64_t place, word;
	uint64_t next; /* the next word; 0 = unknown */
	uint64_t block, size; /* the block that it points to */
};

/*
 * Is it an allocator's own record, not a pointer of the program? `root` is reach_roots_of its
 * place.
 */
bool reach_roots_is_record(const struct reach_roots *roots, enum leak_root root,
			   const struct reach_word *word);

#endif
