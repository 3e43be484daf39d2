/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What memory that is no block is for whoever looks for pointers: a stack, static data, memory that malloc has free ... */
#ifndef REACH_REACH_ROOTS_H
#define REACH_REACH_ROOTS_H

#include "heap/claims.h"
#include "heap/image.h"
#include "heap/module_ranges.h"
#include "heap/thread_list.h"
#include "model/leak_report.h"
#include "system/thread_registers.h"

struct reach_roots {
	struct image *image;
	const struct module_ranges *modules;
	struct claims *claims; /* owned */
	bool has_glibc, has_jemalloc; /* at work in the process */
};

/* All are borrowed. Free with reach_roots_free. */
void reach_roots_open(struct reach_roots *roots, struct image *image,
		      const struct module_ranges *modules, const struct thread_list *threads,
		      const struct thread_registers_list *registers);
void reach_roots_free(struct reach_roots *roots);

/* Memory of which an allocator's walk has understood nothing: it may have blocks. To be called before reach_roots_add_heap. */
void reach_roots_add_unknown(struct reach_roots *roots, uint64_t start, uint64_t end);

/* Memory in which objects of a runtime lie, of LEAK_ROOT_RUBY or LEAK_ROOT_PYTHON. Likewise before reach_roots_add_heap. */
void reach_roots_add_objects(struct reach_roots *roots, uint64_t start, uint64_t end,
			     enum leak_root root);

/* What is at `place`, which is in no block. */
enum leak_root reach_roots_of(const struct reach_roots *roots, uint64_t place);

/*
 * Is it in data of the dynamic loader? That aligns what it allocates by hand, and keeps no address but the aligned one: what it leads into it
 * has.
 */
bool reach_roots_is_loader(const struct reach_roots *roots, enum leak_root root, uint64_t place);

/* A word that leads into a block. */
struct reach_word {
	uint64_t place, word;
	uint64_t next; /* the word behind it; 0 = unknown */
	uint64_t block, size; /* where it leads to */
};

/* Is it an allocator's own record, and no pointer of the program? `root` is reach_roots_of its place. */
bool reach_roots_is_record(const struct reach_roots *roots, enum leak_root root,
			   const struct reach_word *word);

#endif
