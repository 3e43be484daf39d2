/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cohort of --budget: blocks that windows have recorded, what was found of each since, and the sums of those that are gone.
 * Pure: who looks at blocks (budget_look.h, budget_census.h) passes on what was seen.
 *
 * Of a site that has too many, every second one is left out, again and again: by a number that is drawn for each block when it
 * enters, so that those that stay are a fair sample, and each represents twice as many as before.
 */
#ifndef SESSION_BUDGET_COHORT_H
#define SESSION_BUDGET_COHORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "model/budget_report.h"

/* The sums of a site, and how its blocks are thinned. */
struct cohort_site {
	struct budget_site row; /* without what is of this age now */
	size_t count; /* of its blocks in the cohort */
	unsigned int bits; /* one of 2^bits stays */
};

struct cohort_block {
	uint64_t address, size;
	struct cohort_site *site;
	uint64_t born_ns, seen_ns; /* CLOCK_MONOTONIC: its window; when it was last seen in use */
	uint32_t target_id;
	uint32_t contents; /* a hash of how it begins, */
	uint32_t length; /* of so many bytes */
	uint32_t draw;
	uint32_t window; /* which one has recorded it */
	unsigned char bits; /* it represents 2^bits blocks */
	unsigned char age; /* the class that it has reached */
	unsigned char missed; /* by so many censuses in succession */
	bool written; /* its contents are others */
	bool counted; /* by the census under way */
	bool sized; /* `size` is the allocator's */
	bool added; /* `size` is what realloc has added to one that was not recorded */
};

struct budget_cohort_set {
	struct table blocks; /* struct cohort_block by process and address */
	struct table sites; /* struct cohort_site by key */
	size_t most, most_of_site; /* blocks; 0 = no limit */
};

/* What a look has found. */
enum cohort_finding {
	COHORT_UNCHANGED,
	COHORT_WRITTEN, /* or freed and given out again */
	COHORT_FREED,
	COHORT_LOST, /* it cannot be looked at any more */
};

/* A block of a window: all fields of cohort_block that are not what was found of it; `bits` as far as its window was thinned. */
struct cohort_entry {
	uint64_t site; /* key */
	uint64_t address, size, born_ns;
	uint32_t target_id, contents, length, draw;
	uint32_t window; /* which one has recorded it */
	unsigned int bits;
	bool added;
};

void budget_cohort_free(struct budget_cohort_set *set);

/* Of a block that may be in the cohort; NULL = it is not. */
struct cohort_block *budget_cohort_find(const struct budget_cohort_set *set, uint32_t target_id,
					uint64_t address);

/* The site, which is made if it is new. */
struct cohort_site *budget_cohort_site(struct budget_cohort_set *set, uint64_t key,
				       uint32_t target_id);

/*
 * A window that ended at `now_ns` has recorded a block. One that was at the address before has been freed since. False if the block
 * is left out.
 */
bool budget_cohort_enter(struct budget_cohort_set *set, const struct cohort_entry *entry,
			 uint64_t now_ns);

/* A block was found so at `now_ns`. After COHORT_FREED and COHORT_LOST it is in the cohort no more, and freed. */
void budget_cohort_see(struct budget_cohort_set *set, struct cohort_block *block, uint64_t now_ns,
		       enum cohort_finding finding);

/* The allocator has the block with this size. */
void budget_cohort_resize(struct cohort_block *block, uint64_t size);

/* What a process had cannot be looked at any more. */
void budget_cohort_lose(struct budget_cohort_set *set, uint32_t target_id, uint64_t now_ns);

/* The site is forgotten, with its blocks; all sites of a process are. */
void budget_cohort_forget_site(struct budget_cohort_set *set, uint64_t key);
void budget_cohort_forget_target(struct budget_cohort_set *set, uint32_t target_id);

/* Add all sites to a report, with what is of each age at `now_ns`. */
void budget_cohort_report(const struct budget_cohort_set *set, uint64_t now_ns,
			  struct budget_report *report);

#endif
