/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exact accounting of memory that programs obtain by mmap and release by munmap, mremap, or mapping
 * over it. Fed with the records of the mapping calls in order; does no I/O.
 *
 * - A mapping is an object of the requested size. It occupies whole pages; the last one counts only
 * the requested part, so that unmapping it, in any pieces, frees exactly its size. The object is
 * freed with its last byte.
 *
 * - The range of an unmapping call is set aside when the call begins, because another thread may
 * get the addresses before it returns. It is freed when the call has returned, or put back if it
 * failed. If something newer was mapped there meanwhile, it is freed whatever the result.
 *
 * - If the return of such a call is never seen (its thread has ended, its record was lost), the
 * call counts as successful, as nearly all are, once its thread makes another call or is forgotten.
 *
 * - If the begin of such a call was not seen, it takes effect at its return.
 *
 * - alloc - free = in use holds at each site after each record.
 */
#ifndef MODEL_MAPPING_SET_H
#define MODEL_MAPPING_SET_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/generations.h"
#include "model/site_stats.h"
#include "tracer_abi.h"

struct mapping_set;

/* Losses, named as in the loss list; the caller adds them to its counters. */
struct mapping_losses {
	uint64_t returns_unmatched; /* calls whose return was missing in the records */
	/* Mappings whose addresses, all or part, the kernel reused without a record. */
	uint64_t address_reused;
	uint64_t blocks_full; /* mappings not recorded because of the limit */
	/* Bytes of mappings not recorded, for this or any other reason. */
	uint64_t bytes_unattributed;
};

/* `page_size` is a power of two. At most `limit` mappings are in use at a time; 0 = no limit. */
struct mapping_set *mapping_set_new(uint64_t page_size, size_t limit);
void mapping_set_free(struct mapping_set *set);

/*
 * Apply the next record. A new mapping without a site is not recorded, but ends what it overlaps.
 */
void mapping_set_apply(struct mapping_set *set, const struct event_mapping *event);

/*
 * The program has ended by exit or exec: forget its mappings, sites and totals. Read them first if
 * they are needed, and apply all records of the program first, since a later one would add it
 * again.
 */
void mapping_set_drop(struct mapping_set *set, uint32_t target_id, uint32_t exec_id);

/*
 * The figures of a site at `now_ns`. Mappings younger than `min_age_ns` count as young; ages are
 * those of the others. False, with `*ret_stats` untouched, if the site never had a mapping. Takes
 * time proportional to the site's mappings in use, so reading all sites is one pass over all
 * mappings.
 */
bool mapping_set_site(const struct mapping_set *set, uint64_t site, uint64_t now_ns,
		      uint64_t min_age_ns, struct site_stats *ret_stats);

/* Count the site's mappings in use by birth, except those younger than `min_age_ns`. */
void mapping_set_count_births(const struct mapping_set *set, uint64_t site, uint64_t now_ns,
			      uint64_t min_age_ns, const struct marks *marks,
			      struct generations *births);

/* A mapped range and its site. */
struct mapping_piece {
	uint32_t target_id, exec_id;
	uint64_t site;
	uint64_t start, end; /* whole pages */
	bool anonymous; /* without a file, according to the mapping call */
};

/*
 * Measure the resident bytes of each mapped piece; `measure` returns false if unknown. The figures
 * of sites include the results until the next call.
 */
void mapping_set_measure(struct mapping_set *set,
			 bool (*measure)(void *context, const struct mapping_piece *piece,
					 uint64_t *ret_resident),
			 void *context);

struct mapping_losses mapping_set_losses(const struct mapping_set *set);
/* Number of mappings in use. */
size_t mapping_set_count(const struct mapping_set *set);

#endif
