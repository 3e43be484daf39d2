/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sites that BPF programs have made. Each stack is normalized to modules and offsets as soon as its site is
 * announced, while the libraries in it are still mapped.
 */
#ifndef SESSION_SITES_H
#define SESSION_SITES_H

#include <linux/types.h>
#include <stdint.h>

#include "base/table.h"
#include "discover/process.h"
#include "model/generations.h"
#include "model/region.h"
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
	uint64_t held_bytes, held_objects; /* of its blocks in the table that count as in use */
	struct generations births; /* of its blocks, as of the last snapshot */
	enum region region; /* what its blocks are, once that was found out */
	uint32_t looks; /* at how many of its blocks that was tried */
	/* A block of the heap that is in use, and may be of an interpreter's; 0 = none. */
	uint64_t block, block_end;
};

struct sites {
	struct table by_key; /* struct known_site by key */
	struct known_site *last; /* of the last look-up: the next one often asks for the same */
};

/* NULL if it is not known. */
struct known_site *sites_get(struct sites *sites, uint64_t key);

/*
 * Add a site of `process` with its stack as it was captured; `stack` NULL = it could not be stored. A site that is known
 * already only gets the new counters. True if a frame lies in no known mapping of the process: its mappings
 * should be read again and sites_resolve be called.
 */
bool sites_add(struct sites *sites, uint64_t key, const struct site *record,
	       struct process *process, const struct stack_record *stack);

/* Give the site its record as read again. The ages stay. */
void sites_set(struct known_site *site, const struct site *record);

/* Begin the sums over the site's blocks anew. */
void sites_reset_ages(struct known_site *site);

/* Normalize the stack of a site again. True if a frame lies in no known mapping. */
bool sites_resolve(struct known_site *site);

/*
 * Drop the innermost frames up to and with the outermost of those that follow each other in the innermost frame's module and
 * of which one `is_inside`: what the caller of the allocator has called. None are dropped if none is.
 */
void sites_drop_inner(struct known_site *site,
		      bool (*is_inside)(const void *context, uint32_t module, uint64_t offset),
		      const void *context);

/* End the stack of a site by the name of its threads. */
void sites_add_thread(struct known_site *site, const struct frame_name *name);

void sites_remove(struct sites *sites, uint64_t key);
void sites_free(struct sites *sites);

#endif
