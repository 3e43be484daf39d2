/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Repeated censuses of a process's heap for --budget: the number of blocks of each size class, and
 * which blocks of the cohort the heap still contains.
 */
#ifndef WINDOWS_BUDGET_CENSUS_H
#define WINDOWS_BUDGET_CENSUS_H

#include "heap/census.h"
#include "image/image.h"
#include "model/budget_report.h"
#include "windows/budget_cohort.h"

#define BUDGET_CENSUSES_MAX 32

/* One census; {0} = none yet. */
struct census_counts {
	struct budget_census totals;
	uint64_t blocks[BUDGET_SIZE_CLASSES], bytes[BUDGET_SIZE_CLASSES];
};

struct budget_census_series {
	const char *allocator; /* static string; NULL = unknown allocator */
	char *reason; /* why blocks cannot be counted, or not by address; NULL = they can; owned */
	bool by_address; /* the last census listed blocks by address */
	struct census_counts *counts[BUDGET_CENSUSES_MAX]; /* the oldest first; owned */
	size_t count;
	/* do not take a census before this time: it would exceed the tracer's share */
	uint64_t next_ns;
};

/*
 * Take a census. A block of the cohort is marked as freed if two consecutive censuses have missed
 * it or found another size. The caller refreshes the image first. If the heap cannot be walked,
 * `reason` is set.
 */
void budget_census_take(struct budget_census_series *series, struct image *image,
			struct budget_cohort_set *cohort, uint32_t target_id);
void budget_census_free(struct budget_census_series *series);

/* Add the counts to a report. */
void budget_census_report(const struct budget_census_series *series, uint32_t target_id,
			  uint64_t cpu_ns, struct budget_report *report);

/*
 * Can the block that a census has found at this address be `block`? Decided by size: the memory of
 * a freed block may have been reused, or merged with its neighbours.
 */
bool budget_census_is_same(const char *allocator, const struct cohort_block *block,
			   const struct census_block *seen);

/* Usable bytes of a block that was requested with `size` bytes. */
uint64_t budget_census_usable(const struct budget_census_series *series, uint64_t size);

#endif
