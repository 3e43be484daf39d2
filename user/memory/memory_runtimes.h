/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The runtimes of a process: their pages are claimed, and with --objects their objects are counted by class. */
#ifndef MEMORY_MEMORY_RUNTIMES_H
#define MEMORY_MEMORY_RUNTIMES_H

#include "image/claims.h"
#include "image/image.h"
#include "memory/memory_look.h"
#include "model/memory_report.h"

/*
 * Begin a look at `image` with its `kept` state. False if that state belonged to a program that the
 * process ran before: it is dropped.
 */
bool memory_kept_begin(struct memory_kept *kept, const struct image *image);

/* Has any look begun? */
bool memory_kept_has_begun(const struct memory_kept *kept);

/* The census of kinds of the previous look, to be replaced; NULL if nothing is kept. */
struct kind_census **memory_kept_kinds(struct memory_kept *kept);

struct kind_roots;
struct kind_census;

/*
 * Examine all runtimes of the process; results, or reasons for their absence, go to the report.
 * `kinds` has seen the blocks of the heaps; if NULL or incomplete, they are walked when needed.
 * Adds the memory of their objects to `roots`, sorted by address.
 */
void memory_runtimes_look(struct image *image, const struct memory_wanted *wanted,
			  const struct kind_census *kinds, struct claims *claims,
			  struct kind_roots *roots, struct memory_report *report);

#endif
