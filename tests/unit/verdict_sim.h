/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that are made up: when each block is born, and when it is freed. Tracing of them gives what the kernel would: figures of the
 * freed blocks, ages of those in use, and what was in use before. Without a clock and the same in each run.
 */
#ifndef TESTS_UNIT_VERDICT_SIM_H
#define TESTS_UNIT_VERDICT_SIM_H

#include <math.h>
#include <stdlib.h>

#include "verdict/verdict.h"
#include "base/compare.h"
#include "base/memory.h"
#include "unit/random_numbers.h"

#define SIM_START 1000000000ull
#define SIM_NEVER INFINITY

struct sim_block {
	double birth, death; /* seconds; SIM_NEVER = not freed */
	uint64_t size;
	bool temporary;
};

struct sim {
	struct random_numbers random;
	struct sim_block *blocks; /* of the program; by birth once it runs */
	size_t count, capacity;
	struct sim_block *alive;
	size_t alive_count, next;
	struct site_stats stats;
	struct history history;
	double full_s; /* when a cache is full, if it may be taken for a leak until then */
	double collected_s; /* time between two major collections; 0 = no garbage is collected */
};

/* A block of the program; returns its index. */
static inline size_t sim_add(struct sim *sim, double birth, double life, uint64_t size)
{
	sim->blocks = memory_grow(sim->blocks, sim->count, &sim->capacity, sizeof(*sim->blocks));
	sim->blocks[sim->count] = (struct sim_block){ birth, birth + life, size, false };
	return sim->count++;
}

static inline int sim_compare(const void *a, const void *b)
{
	const struct sim_block *left = a, *right = b;

	return left->birth < right->birth ? -1 : left->birth > right->birth;
}

static inline uint64_t sim_ns(double seconds)
{
	return (uint64_t)(seconds * 1e9);
}

static inline void sim_free_block(struct sim *sim, const struct sim_block *block)
{
	sim->stats.free_objects++;
	sim->stats.free_bytes += block->size;
	sim->stats.lives.temporary += block->temporary;
	lifespans_count(&sim->stats.lives, sim_ns(block->death - block->birth));
}

/* What has happened until `time_s`. */
static inline void sim_run(struct sim *sim, double time_s)
{
	size_t kept = 0, i;

	for (; sim->next < sim->count && sim->blocks[sim->next].birth <= time_s; sim->next++) {
		sim->stats.alloc_objects++;
		sim->stats.alloc_bytes += sim->blocks[sim->next].size;
		sim->alive[sim->alive_count++] = sim->blocks[sim->next];
	}
	for (i = 0; i < sim->alive_count; i++) {
		if (sim->alive[i].death <= time_s)
			sim_free_block(sim, &sim->alive[i]);
		else
			sim->alive[kept++] = sim->alive[i];
	}
	sim->alive_count = kept;
}

static inline void sim_keep(struct sim *sim, double time_s)
{
	if (history_begin(&sim->history, SIM_START + sim_ns(time_s)))
		history_set(&sim->history, 1, &sim->stats);
}

/* As a report has them: with the blocks in use. */
static inline struct site_stats sim_stats(const struct sim *sim, double time_s)
{
	struct site_stats stats = sim->stats;
	size_t i;

	for (i = 0; i < sim->alive_count; i++)
		site_stats_add_blocks(
			&stats,
			&(struct site_blocks){ .age_ns = sim_ns(time_s - sim->alive[i].birth),
					       .bytes = sim->alive[i].size,
					       .objects = 1 },
			0);
	if (sim->collected_s > 0) {
		const double born_s = time_s - (double)stats.oldest_ns / 1e9;

		stats.gcs_known = true;
		stats.gcs = (uint64_t)(floor(time_s / sim->collected_s) -
				       ceil(born_s / sim->collected_s) + 1);
	}
	return stats;
}

static inline struct verdict sim_judge(const struct sim *sim, double time_s)
{
	const struct snapshot_site row = { .key = 1 };
	struct history_point points[HISTORY_POINTS] = { 0 };
	const struct site_stats stats = sim_stats(sim, time_s);

	history_add_row(&sim->history, &row, points);
	return verdict_of(&(struct verdict_input){ .stats = &stats,
						   .start_ns = SIM_START,
						   .now_ns = SIM_START + sim_ns(time_s),
						   .times = sim->history.times,
						   .points = points,
						   .count = sim->history.count });
}

static inline void sim_begin(struct sim *sim)
{
	if (sim->count)
		qsort(sim->blocks, sim->count, sizeof(*sim->blocks), sim_compare);
	sim->alive = memory_alloc(sim->count + 1, sizeof(*sim->alive));
}

static inline void sim_end(struct sim *sim)
{
	free(sim->blocks);
	free(sim->alive);
	history_free(&sim->history);
}

#endif
