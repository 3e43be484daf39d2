/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sites that the programs have made, each with its stack normalized to modules and offsets as soon as it is
 * first heard of, while the libraries it runs through are still mapped.
 */
#ifndef SESSION_SITES_H
#define SESSION_SITES_H

#include <linux/types.h>
#include <stdint.h>

#include "base/table.h"
#include "discover/process.h"
#include "model/site_stats.h"
#include "model/stack.h"
#include "tracer_abi.h"

/* A site, and its figures, of which a snapshot is being made. */
struct known_site {
	uint64_t key;
	struct process *process;
	struct stack *stack; /* owned */
	struct site record; /* as last read; the counters are not current between snapshots */
	struct site_stats stats; /* its ages are those of the last snapshot */
};

struct site_table {
	struct table sites; /* struct known_site by key */
	struct known_site *last; /* of the last look-up: the next one often asks for the same */
};

/* NULL if it is not known. */
struct known_site *site_table_get(struct site_table *table, uint64_t key);

/*
 * Add a site of `process` with its stack as it was captured; `stack` NULL = it could not be stored. A site that is known
 * already only gets the new counters. True if a frame lies in no known mapping of the process: its mappings
 * should be read again and site_table_resolve be called.
 */
bool site_table_add(struct site_table *table, uint64_t key, const struct site *record,
		    struct process *process, const struct stack_record *stack);

/* Give the site its record as read again. The ages stay. */
void site_table_set(struct known_site *site, const struct site *record);

/* Begin the sums over the site's blocks anew. */
void site_table_reset_ages(struct known_site *site);

/* Normalize the stack of a site again. True if a frame lies in no known mapping. */
bool site_table_resolve(struct known_site *site);

/*
 * Drop the innermost frames up to and with the outermost of those that follow each other in the innermost frame's module and
 * of which one `is_inside`: what the caller of the allocator has called. None are dropped if none is.
 */
void site_table_drop_inner(struct known_site *site,
			   bool (*is_inside)(const void *context, uint32_t module, uint64_t offset),
			   const void *context);

void site_table_remove(struct site_table *table, uint64_t key);
void site_table_free(struct site_table *table);

#endif
