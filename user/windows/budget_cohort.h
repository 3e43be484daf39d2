/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cohort of --budget: the blocks that windows have recorded, what became of each, and the sums
 * of those that are gone. Pure: budget_look.h and budget_census.h examine the blocks and pass in
 * their findings.
 *
 * A site with too many blocks keeps only every second one, repeatedly. A random number, drawn when
 * a block enters, decides, so the remaining blocks are a fair sample, and each represents twice as
 * many as before.
 */
#ifndef WINDOWS_BUDGET_COHORT_H
#define WINDOWS_BUDGET_COHORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "model/budget_report.h"

/* The sums of a site, and how far its blocks are thinned. */
struct cohort_site {
	struct budget_site row; /* without the blocks that have this age now */
	size_t count; /* its blocks in the cohort */
	unsigned int bits; /* one of 2^bits stays */
};

struct cohort_block {
	uint64_t address, size;
	struct cohort_site *site;
	uint64_t born_ns, seen_ns; /* CLOCK_MONOTONIC: its window; when it was last seen in use */
	uint32_t target_id;
	uint32_t contents; /* hash of its first bytes, */
	uint32_t length; /* how many of them */
	uint32_t draw;
	uint32_t window; /* number of the window that recorded it */
	unsigned char bits; /* it represents 2^bits blocks */
	unsigned char age; /* the age class that it has reached */
	unsigned char missed; /* consecutive censuses that have missed it */
	bool written; /* its contents have changed */
	bool counted; /* by the current census */
	bool sized; /* `size` comes from the allocator */
	bool added; /* `size` is what realloc added to a block that was not recorded */
};

struct budget_cohort_set {
	struct table blocks; /* struct cohort_block by process and address */
	struct table sites; /* struct cohort_site by key */
	size_t most, most_of_site; /* blocks; 0 = no limit */
};

/* The result of one look at a block. */
enum cohort_finding {
	COHORT_UNCHANGED,
	COHORT_WRITTEN, /* changed, or freed and reallocated */
	COHORT_FREED,
	COHORT_LOST, /* it can no longer be examined */
};

/*
 * A recorded block of a window: the fields of cohort_block that are known at its birth. `bits`: how
 * far its window was thinned.
 */
struct cohort_entry {
	uint64_t site; /* key */
	uint64_t address, size, born_ns;
	uint32_t target_id, contents, length, draw;
	uint32_t window; /* number of the window that recorded it */
	unsigned int bits;
	bool added;
};

void budget_cohort_free(struct budget_cohort_set *set);

/* The cohort's block at this address, or NULL. */
struct cohort_block *budget_cohort_find(const struct budget_cohort_set *set, uint32_t target_id,
					uint64_t address);

/* The site with this key; created if it is new. */
struct cohort_site *budget_cohort_site(struct budget_cohort_set *set, uint64_t key,
				       uint32_t target_id);

/*
 * Add a block that a window, which ended at `now_ns`, has recorded. A cohort block at the same
 * address has been freed since. Returns false if thinning drops the new block.
 */
bool budget_cohort_enter(struct budget_cohort_set *set, const struct cohort_entry *entry,
			 uint64_t now_ns);

/*
 * Record what a look at `now_ns` has found. COHORT_FREED and COHORT_LOST remove the block and free
 * it.
 */
void budget_cohort_see(struct budget_cohort_set *set, struct cohort_block *block, uint64_t now_ns,
		       enum cohort_finding finding);

/* Set the size that the allocator reports for the block. */
void budget_cohort_resize(struct cohort_block *block, uint64_t size);

/* The blocks of this process can no longer be examined. */
void budget_cohort_lose(struct budget_cohort_set *set, uint32_t target_id, uint64_t now_ns);

/* Forget a site and its blocks; or all sites of a process. */
void budget_cohort_forget_site(struct budget_cohort_set *set, uint64_t key);
void budget_cohort_forget_target(struct budget_cohort_set *set, uint32_t target_id);

/* Add all sites to a report, with the age of each block as of `now_ns`. */
void budget_cohort_report(const struct budget_cohort_set *set, uint64_t now_ns,
			  struct budget_report *report);

#endif
