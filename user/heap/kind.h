/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What live blocks are, by how they begin: objects of a C++ class, structures that begin with or have a pointer to something static,
 * nodes of trees, text, zeroes, pointers, data. Blocks of one kind are a row. Contents are never kept, but for names of classes.
 */
#ifndef HEAP_KIND_H
#define HEAP_KIND_H

#include "heap/census.h"
#include "heap/module_ranges.h"
#include "heap/thread_list.h"
#include "model/memory_report.h"

struct kind_census;

#define KIND_NO_MODULE UINT32_MAX

/* A name that is asked for: of a place in a module, or of a type. */
struct kind_name {
	uint32_t module; /* KIND_NO_MODULE: of a type */
	uint64_t address; /* as the module's file has it */
	char *mangled; /* the type's name, owned; NULL: of a place */
	/* The answer: a type's name, or that of the symbol which covers the place; NULL = there is none. Owned; untrusted. */
	char *text;
	uint64_t into; /* bytes from where the symbol begins */
};

/* Who gives names: asked at once for all that a report shows. */
struct kind_namer {
	void (*name)(void *context, const struct module_ranges *modules, struct kind_name *names,
		     size_t count);
	void *context;
};

/* `image` and `modules` must outlive it. Free with kind_census_free. */
struct kind_census *kind_census_new(struct image *image, const struct module_ranges *modules);
void kind_census_free(struct kind_census *census);
/* What a walk passes its blocks to; valid as long as the census. */
struct census_sink kind_census_sink(struct kind_census *census);
/* Forget all blocks: the walk that passed them has failed, or begins anew. Their contents are read again for what holds them. */
void kind_census_restart(struct kind_census *census);
/*
 * Before the walk: keep 24 bytes of each block that is looked at, so that this census can be compared with the one before (NULL =
 * there is none), and the next one with this.
 */
void kind_census_keep(struct kind_census *census, const struct kind_census *before);
/* Memory that is no block, and may hold blocks: a runtime's objects. */
struct kind_root {
	uint64_t start, end;
	const char *name; /* "Ruby heap page"; static */
};

struct kind_roots {
	struct kind_root *items; /* owned */
	size_t count, capacity;
};

/* {0} is an empty list. */
void kind_roots_add(struct kind_roots *roots, uint64_t start, uint64_t end, const char *name);
/* In the order of addresses, so that what lies side by side is read together. */
void kind_roots_sort(struct kind_roots *roots);
uint64_t kind_roots_bytes(const struct kind_roots *roots);
void kind_roots_free(struct kind_roots *roots);

/* Before the walk: what holds blocks will be looked for, unless they are more than `max_bytes`. That makes it cheaper. */
void kind_census_expect_holders(struct kind_census *census, uint64_t max_bytes);
/*
 * After the walk, of a census that is kept: find what holds the blocks, and divide the rows by it. Reads what the walk had not at hand. False
 * where there is only a sample, or there was no time: rows are as they were.
 */
bool kind_census_hold(struct kind_census *census, const struct thread_list *threads,
		      const struct kind_roots *roots);
/*
 * After the walk, of a census that is kept: pass its blocks on, without their contents. Returns false, and passes none, where there
 * is only a sample, or there are none.
 */
bool kind_census_pass(const struct kind_census *census, const struct census_sink *sink);
/*
 * After the walk, of a census that is kept: what each block is, in no order. `name` is a text with marks (kind_names.h), or NULL; texts are
 * valid as long as the census. Equal ones of a census have one address.
 */
void kind_census_list(const struct kind_census *census,
		      void (*each)(void *context, uint64_t address, const char *kind,
				   const char *name),
		      void *context);
/* After the walk, of a census that is kept: nothing is looked at any more; `image` and `modules` may go. */
void kind_census_end(struct kind_census *census);
/* Find what was born, is gone, unchanged, written since `before`. Both are kept, and ended. */
void kind_census_follow(struct kind_census *census, const struct kind_census *before);
/* How a census is shown. */
struct kind_shown {
	struct image *image;
	const struct module_ranges *modules;
	/* Of places in `modules`, and of types; NULL = they have no names. */
	const struct kind_namer *namer;
	bool samples; /* texts may be shown */
};

/*
 * Add the rows to the report: what has grown most, then the largest first. What was seen of a sample of blocks only has a
 * remark. Of a census that is kept, also blocks with equal contents.
 */
void kind_census_fill(const struct kind_census *census, const struct kind_shown *shown,
		      struct memory_report *report);

#endif
