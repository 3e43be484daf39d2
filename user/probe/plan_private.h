/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the parts of the plan; private to them. */
#ifndef PROBE_PLAN_PRIVATE_H
#define PROBE_PLAN_PRIVATE_H

#include "probe/plan.h"
#include "probe/scan.h"

/* The id of a function of an allocator; 0 when all are taken. Both texts are static, or live as long. */
uint32_t plan_function(struct plan *plan, const char *allocator, const char *function);

/* Path of a module, for messages. */
const char *plan_path(const struct plan *plan, uint32_t module);

/* The named functions that match this file. Returns their number; free `*ret_rows`. */
size_t plan_named_rows(struct plan *plan, uint32_t module, struct elf_file *file,
		       const struct allocator_function ***ret_rows);

/* Add the functions by which a process ends itself, if wanted. */
size_t plan_end_rows(const struct plan *plan, const struct allocator_function ***rows,
		     size_t count);

/* Note which of the named functions a file contains. */
void plan_see_named(struct plan *plan, const struct scan *scan);

/* Where the result of a function is read. */
enum plan_reading {
	READ_NOWHERE = 0, /* not probed */
	READ_AT_ENTRY, /* it has no result */
	READ_AT_RETURN, /* by a return probe */
	READ_AT_EXITS,
};

/*
 * Decide where the result of a function is read, and add its exits to the plan if it is read there. `walker` is what walks the
 * stack inside the function; NULL = no known one. If it cannot be read, the plan gets a skipped entry.
 */
enum plan_reading plan_add_exits(struct plan *plan, uint32_t module, struct elf_file *file,
				 const struct scan_function *function, const char *walker);

/* Add probes inside of glibc's functions that allocate, where that can be done; otherwise the plan gets a skipped entry. */
void plan_add_inside(struct plan *plan, uint32_t module, struct elf_file *file);

/*
 * Add the places where the file publishes samples, if it publishes both blocks and their ends. True if it does; if it
 * could but one of them cannot be probed, the plan gets a skipped entry.
 */
bool plan_add_samples(struct plan *plan, uint32_t module, struct elf_file *file,
		      const char *allocator);

/*
 * Is a function left out if it calls another one that allocates? Not if the callee publishes samples: few of its frees
 * are published, so most blocks of the caller would stay in use for ever.
 */
bool plan_may_forward(const struct plan *plan, const struct allocator_function *row);

#endif
