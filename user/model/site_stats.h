/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The figures of a site, or of a sum of sites: one struct for all stages from the kernel's counters to the outputs, so that a
 * new figure is a field here, a line in site_stats_add(), the place that reads it, and the outputs that show it.
 */
#ifndef MODEL_SITE_STATS_H
#define MODEL_SITE_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/lifespans.h"

/* {0} is a site without a block. In use = alloc - free, in bytes and in objects. */
struct site_stats {
	/* These only grow. */
	uint64_t alloc_bytes, alloc_objects;
	uint64_t free_bytes, free_objects;
	uint64_t samples; /* of which the above are an estimate; 0 = they are exact */
	/* Of the blocks in use; without meaning when none is. With --min-age, of those that are old enough. */
	uint64_t oldest_ns; /* age of the oldest block */
	unsigned __int128 age_sum_ns; /* samples may represent very many blocks */
	uint64_t grown_objects; /* that realloc has made larger */
	uint64_t grown_times; /* how often at most */
	/* That realloc made of blocks which were not recorded, as those from before tracing. Their ages are at least as high. */
	uint64_t added_objects; /* of which what realloc has added is counted */
	/* And those that are counted in full, since the old size is not known. */
	uint64_t unknown_bytes, unknown_objects;
	/* Blocks in use that are younger than --min-age, or have outlived too little for --survived. */
	uint64_t young_bytes, young_objects;
	/* Of the blocks in use, without the young ones, those that may have been freed (--light). */
	uint64_t undecided_bytes, undecided_objects;
	/* Of mappings in use, without the young ones: how many bytes were looked at, and were present then. */
	uint64_t measured_bytes, resident_bytes;
	struct lifespans lives; /* of the freed blocks */
	/* Blocks in use by their age, in the classes of lifespans; young ones, too. */
	uint64_t ages[LIFE_CLASSES];
	/* Major garbage collections that the block in use has outlived which has outlived most. */
	uint64_t gcs;
	bool gcs_known; /* its process has a garbage collector that is known */
};

/* Add `more` to `sum`. A sum that overflows, as that of a damaged recording may, stays at its maximum. */
void site_stats_add(struct site_stats *sum, const struct site_stats *more);

/* Blocks in use of one age. */
struct site_blocks {
	uint64_t age_ns;
	uint64_t bytes, objects;
	/* Of a block whose life is recorded. */
	uint32_t grown; /* how often realloc has made it larger */
	bool added, unknown; /* as above; at most one of them */
	bool undecided; /* they may have been freed */
};

/* Count blocks among the young ones if their age is below `min_age_ns`, or else in the ages. The counters stay. */
void site_stats_add_blocks(struct site_stats *stats, const struct site_blocks *blocks,
			   uint64_t min_age_ns);

/* Lower what is freed to what is allocated: only counters that contradict themselves change. */
void site_stats_limit_freed(struct site_stats *stats);

/*
 * Counters that were read while they changed may contradict each other by what happened meanwhile. Lower what is too much: what is freed to
 * what is allocated, lifespans to what is freed, the shortest first, and ages to what is in use, the youngest first.
 */
void site_stats_settle(struct site_stats *stats);

/* Take the young blocks out of what is allocated, and so out of what is in use. */
void site_stats_leave_out_young(struct site_stats *stats);

/* As a report counts them: not more freed than allocated, and without the young blocks if these are left out. */
struct site_stats site_stats_counted(const struct site_stats *stats, bool without_young);

uint64_t site_stats_inuse_bytes(const struct site_stats *stats);
uint64_t site_stats_inuse_objects(const struct site_stats *stats);
/* Is there at least one byte or block in use? */
bool site_stats_hold(const struct site_stats *stats);
/* Was all that is in use looked at, so that resident_bytes is of all of it? */
bool site_stats_is_measured(const struct site_stats *stats);
/* The mean age of the blocks in use; 0 when there is none. */
uint64_t site_stats_mean_age_ns(const struct site_stats *stats);

#endif
