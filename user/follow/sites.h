/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sites that BPF programs have made. Each stack is normalized to modules and offsets as soon as its site is
 * announced, while the libraries in it are still mapped.
 */
#ifndef FOLLOW_SITES_H
#define FOLLOW_SITES_H

#include <linux/types.h>
#include <stdint.h>

#include "base/table.h"
#include "discover/process.h"
#include "model/generations.h"
#include "model/region.h"
#include "model/site_stats.h"
#include "model/stack.h"
#include "tracer_abi.h"

/* A site and its figures, while a snapshot is made. */
struct known_site {
	uint64_t key;
	struct process *process;
	struct stack *stack; /* owned */
	struct site record; /* as last read; the counters are not current between snapshots */
	struct site_stats stats; /* its ages are those of the last snapshot */
	uint64_t held_bytes, held_objects; /* its blocks in the table that count as in use */
	struct generations births; /* births of its blocks, as of the last snapshot */
	enum region region; /* what its blocks are for, once known */
	uint32_t looks; /* number of its blocks examined for that */
	/* A heap block in use that may belong to an interpreter; 0 = none. */
	uint64_t block, block_end;
};

struct sites {
	struct table by_key; /* struct known_site by key */
	struct known_site *last; /* result of the last look-up, which the next one often repeats */
};

/* The site with this key, or NULL. */
struct known_site *sites_get(struct sites *sites, uint64_t key);

/*
 * Add a site of `process` with its captured stack; `stack` NULL = it could not be stored. A known
 * site only gets the new counters. Returns true if a frame lies in no known mapping of the process:
 * the caller should read its mappings again and call sites_resolve.
 */
bool sites_add(struct sites *sites, uint64_t key, const struct site *record,
	       struct process *process, const struct stack_record *stack);

/* Replace the record of a site. Keeps the ages. */
void sites_set(struct known_site *site, const struct site *record);

/* Reset the sums over the site's blocks. */
void sites_reset_ages(struct known_site *site);

/* Normalize the stack of a site again. True if a frame lies in no known mapping. */
bool sites_resolve(struct known_site *site);

/*
 * Of the run of innermost frames that lie in the same module, drop all up to and including the
 * outermost one that `is_inside`: what the caller of the allocator has called. Drops nothing if
 * none is.
 */
void sites_drop_inner(struct known_site *site,
		      bool (*is_inside)(const void *context, uint32_t module, uint64_t offset),
		      const void *context);

/* Append a frame with the name of the site's threads to its stack. */
void sites_add_thread(struct known_site *site, const struct frame_name *name);

void sites_remove(struct sites *sites, uint64_t key);
void sites_free(struct sites *sites);

#endif
