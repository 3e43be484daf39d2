/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Classifies live blocks by their first bytes: objects of a C++ class, structures with a pointer to
 * something static, tree nodes, text, zeroes, pointers, data. Blocks of one kind form a row.
 * Contents are never kept, except names of classes.
 */
#ifndef KINDS_KIND_H
#define KINDS_KIND_H

#include "heap/census.h"
#include "image/module_ranges.h"
#include "image/thread_list.h"
#include "model/memory_report.h"

struct kind_census;

#define KIND_NO_MODULE UINT32_MAX

/* A requested name: of an address in a module, or of a type. */
struct kind_name {
	uint32_t module; /* KIND_NO_MODULE: a type */
	uint64_t address; /* in the module's file */
	char *mangled; /* the type's mangled name, owned; NULL: an address */
	/*
	 * The answer: the type's name, or the symbol that covers the address; NULL = none. Owned;
	 * untrusted.
	 */
	char *text;
	uint64_t into; /* offset into the symbol */
};

/* Provides names; called once for all that a report shows. */
struct kind_namer {
	void (*name)(void *context, const struct module_ranges *modules, struct kind_name *names,
		     size_t count);
	void *context;
};

/* `image` and `modules` must outlive it. Free with kind_census_free. */
struct kind_census *kind_census_new(struct image *image, const struct module_ranges *modules);
void kind_census_free(struct kind_census *census);
/* The sink for a walk's blocks; valid as long as the census. */
struct census_sink kind_census_sink(struct kind_census *census);
/*
 * Call before the walk: keep 24 bytes of each examined block, so that this census can be compared
 * with the one `before` (NULL = none), and the next one with this.
 */
void kind_census_keep(struct kind_census *census, const struct kind_census *before);
/* Memory outside of blocks that may hold blocks: a runtime's objects. */
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
/* Sort by address, so that adjacent memory is read together. */
void kind_roots_sort(struct kind_roots *roots);
uint64_t kind_roots_bytes(const struct kind_roots *roots);
void kind_roots_free(struct kind_roots *roots);

/*
 * Call before the walk: holders of blocks will be searched, unless the blocks exceed `max_bytes`.
 * Makes the search cheaper.
 */
void kind_census_expect_holders(struct kind_census *census, uint64_t max_bytes);
/*
 * After the walk of a kept census: find the holders of blocks, and divide the rows by them. Reads
 * the memory that the walk did not. False for a sample, or if time ran out: rows stay unchanged.
 */
bool kind_census_hold(struct kind_census *census, const struct thread_list *threads,
		      const struct kind_roots *roots);
/*
 * After the walk of a kept census: pass its blocks on, without their contents. Returns false, and
 * passes none, for a sample, or without blocks.
 */
bool kind_census_pass(const struct kind_census *census, const struct census_sink *sink);
/*
 * After the walk of a kept census: report the kind of each block, in arbitrary order. `name` is a
 * text with marks (kind_names.h), or NULL; texts are valid as long as the census, and equal ones
 * have one address.
 */
void kind_census_list(const struct kind_census *census,
		      void (*each)(void *context, uint64_t address, const char *kind,
				   const char *name),
		      void *context);
/* After the walk of a kept census: drop the references to `image` and `modules`. */
void kind_census_end(struct kind_census *census);
/*
 * Find blocks that were born, gone, unchanged or written since `before`. Both censuses are kept and
 * ended.
 */
void kind_census_follow(struct kind_census *census, const struct kind_census *before);
/* How to show a census. */
struct kind_shown {
	struct image *image;
	const struct module_ranges *modules;
	/* Names of addresses in `modules`, and of types; NULL = none. */
	const struct kind_namer *namer;
	bool samples; /* texts may be shown */
};

/*
 * Add the rows to the report, ordered by growth, then size; adds a remark for a sample. For a kept
 * census, also adds blocks with equal contents.
 */
void kind_census_fill(const struct kind_census *census, const struct kind_shown *shown,
		      struct memory_report *report);

#endif
