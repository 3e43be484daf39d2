/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The figures of a site, or of a sum of sites: one struct through all stages, from the kernel's
 * counters to the outputs. A new figure is a field here, a line in site_stats_add(), the code that
 * reads it, and the outputs that show it.
 */
#ifndef MODEL_SITE_STATS_H
#define MODEL_SITE_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/lifespans.h"

/* {0} = no block. In use = alloc - free, in bytes and objects. */
struct site_stats {
	/* These only grow. */
	uint64_t alloc_bytes, alloc_objects;
	uint64_t free_bytes, free_objects;
	uint64_t samples; /* samples behind the estimates above; 0 = exact */
	/*
	 * For blocks in use; undefined if there is none. With --min-age, only blocks that are old
	 * enough.
	 */
	uint64_t oldest_ns; /* age of the oldest block */
	unsigned __int128 age_sum_ns; /* wide, since samples may represent very many blocks */
	uint64_t grown_objects; /* blocks enlarged by realloc */
	uint64_t grown_times; /* most enlargements of one block */
	/*
	 * Blocks that realloc made from unrecorded ones, such as those older than tracing; their
	 * ages are lower bounds.
	 */
	uint64_t added_objects; /* counted by the bytes that realloc added */
	/* Counted in full, since the old size is unknown. */
	uint64_t unknown_bytes, unknown_objects;
	/*
	 * Blocks in use younger than --min-age, or with too few survived collections for
	 * --survived.
	 */
	uint64_t young_bytes, young_objects;
	/* Blocks in use, except young ones, that may have been freed (--light). */
	uint64_t undecided_bytes, undecided_objects;
	/* Mappings in use, except young ones: bytes examined, and those resident. */
	uint64_t measured_bytes, resident_bytes;
	struct lifespans lives; /* of freed blocks */
	/* Blocks in use by age, in the classes of lifespans; includes young ones. */
	uint64_t ages[LIFE_CLASSES];
	/* The most major garbage collections that any block in use has survived. */
	uint64_t gcs;
	bool gcs_known; /* its process has a known garbage collector */
};

/* Add `more` to `sum`; saturating, since a damaged recording may overflow. */
void site_stats_add(struct site_stats *sum, const struct site_stats *more);

/* Blocks in use of one age. */
struct site_blocks {
	uint64_t age_ns;
	uint64_t bytes, objects;
	/* For blocks with a recorded history. */
	uint32_t grown; /* times enlarged by realloc */
	bool added, unknown; /* as above; at most one of them */
	bool undecided; /* may have been freed */
};

/*
 * Count blocks as young if their age is below `min_age_ns`, else add their ages. The counters stay.
 */
void site_stats_add_blocks(struct site_stats *stats, const struct site_blocks *blocks,
			   uint64_t min_age_ns);

/* Limit freed to allocated; changes contradictory counters only. */
void site_stats_limit_freed(struct site_stats *stats);

/*
 * Resolve contradictions of counters that were read while they changed, by lowering the excess:
 * freed to allocated; lifespans to freed blocks, the shortest first; ages to blocks in use, the
 * youngest first.
 */
void site_stats_settle(struct site_stats *stats);

/* Remove young blocks from allocated, and so from in use. */
void site_stats_leave_out_young(struct site_stats *stats);

/*
 * The figures as a report counts them: freed at most allocated, and without young blocks if
 * requested.
 */
struct site_stats site_stats_counted(const struct site_stats *stats, bool without_young);

uint64_t site_stats_inuse_bytes(const struct site_stats *stats);
uint64_t site_stats_inuse_objects(const struct site_stats *stats);
/* Is any byte or block in use? */
bool site_stats_hold(const struct site_stats *stats);
/* Was everything in use measured, so that resident_bytes is complete? */
bool site_stats_is_measured(const struct site_stats *stats);
/* Mean age of the blocks in use; 0 if there is none. */
uint64_t site_stats_mean_age_ns(const struct site_stats *stats);

#endif
