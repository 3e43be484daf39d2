/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Censuses of a process's heap for --budget: how many blocks of each size class there are, again and again; and whether those of the
 * cohort are still among them.
 */
#ifndef SESSION_BUDGET_CENSUS_H
#define SESSION_BUDGET_CENSUS_H

#include "heap/census.h"
#include "heap/image.h"
#include "model/budget_report.h"
#include "session/budget_cohort.h"

#define BUDGET_CENSUSES_MAX 32

/* One census: {0} is none. */
struct census_counts {
	struct budget_census totals;
	uint64_t blocks[BUDGET_SIZE_CLASSES], bytes[BUDGET_SIZE_CLASSES];
};

struct budget_census_series {
	const char *allocator; /* static; NULL = none is known */
	char *reason; /* why blocks are not counted, or not by address; NULL = they are; owned */
	bool by_address; /* by the last census */
	struct census_counts *counts[BUDGET_CENSUSES_MAX]; /* the oldest first; owned */
	size_t count;
	uint64_t next_ns; /* not before that time: it would take too much of the tracer's */
};

/*
 * Count. Blocks of the cohort that two censuses in succession have missed, or that have another size, have been freed. The image is
 * to be refreshed before. If the heap cannot be walked, `reason` is set.
 */
void budget_census_take(struct budget_census_series *series, struct image *image,
			struct budget_cohort_set *cohort, uint32_t target_id);
void budget_census_free(struct budget_census_series *series);

/* Add what was counted to a report. */
void budget_census_report(const struct budget_census_series *series, uint32_t target_id,
			  uint64_t cpu_ns, struct budget_report *report);

/*
 * May what the census of an allocator has seen at the address of a block be that block? By its size: the place of a freed one may have
 * been given to another, or merged with others.
 */
bool budget_census_is_same(const char *allocator, const struct cohort_block *block,
			   const struct census_block *seen);

/* What the program may use of a block for which it has asked for `size` bytes. */
uint64_t budget_census_usable(const struct budget_census_series *series, uint64_t size);

#endif
