/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The runtimes of a process: their pages are claimed, and with --objects their objects are counted by class. */
#ifndef MEMORY_MEMORY_RUNTIMES_H
#define MEMORY_MEMORY_RUNTIMES_H

#include "heap/claims.h"
#include "heap/image.h"
#include "memory/memory_look.h"
#include "model/memory_report.h"

/*
 * A look at `image` begins, which `kept` is of. False if what was kept is of another program, which the process executed before: it is
 * dropped.
 */
bool memory_kept_begin(struct memory_kept *kept, const struct image *image);

/* Was there a look that began? */
bool memory_kept_has_begun(const struct memory_kept *kept);

/* The census of kinds of the look before, to be replaced; NULL if nothing is kept. */
struct kind_census **memory_kept_kinds(struct memory_kept *kept);

struct kind_roots;
struct kind_census;

/*
 * `kinds` has seen the blocks of the heaps; NULL, or one that has not all of them: these are walked where they are needed.
 * Looks at all runtimes that the process has; what is found, or why it is not, goes to the report. The memory of their objects is
 * added to `roots`, which are in the order of addresses then.
 */
void memory_runtimes_look(struct image *image, const struct memory_wanted *wanted,
			  const struct kind_census *kinds, struct claims *claims,
			  struct kind_roots *roots, struct memory_report *report);

#endif
