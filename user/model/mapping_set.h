/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The exact accounting of memory that programs get by mmap and give back by munmap, mremap, or mapping over
 * it. Fed with the records of the mapping calls, in their order; does no I/O.
 *
 * - A mapping is an object; its bytes are those that were asked for. They lie in whole pages of which the
 *   last counts only what was asked for, so that unmapping all of it, in any parts, frees exactly its size.
 *   The object is freed with its last byte.
 * - What an unmapping call is about to unmap is set aside when the call begins, because another thread may
 *   get the addresses before the call returns. Its bytes are freed when it has returned, or put back when
 *   it has failed. Where something newer was mapped meanwhile, they are freed whatever is returned.
 * - Where the return of such a call is never seen (its thread has ended, its record was lost), it is taken to
 *   have succeeded, as nearly all do, once its thread calls again or is forgotten.
 * - Where the begin of such a call was not seen, it acts when it returns.
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

/* What was lost. The names are those of the loss list, to whose counters the caller adds them. */
struct mapping_losses {
	uint64_t returns_unmatched; /* calls whose return was missing in the records */
	/* Mappings that the kernel gave out again, all or part, unannounced. */
	uint64_t address_reused;
	uint64_t blocks_full; /* mappings not recorded because of the limit */
	/* Bytes of mappings not recorded, for this or any other reason. */
	uint64_t bytes_unattributed;
};

/* `page_size` is a power of two. At most `limit` mappings are in use at a time; 0 = no limit. */
struct mapping_set *mapping_set_new(uint64_t page_size, size_t limit);
void mapping_set_free(struct mapping_set *set);

/* Apply the next record. A new mapping without a site is not recorded, but ends what it is mapped over. */
void mapping_set_apply(struct mapping_set *set, const struct event_mapping *event);

/*
 * The program has ended, by exit or exec: forget its mappings and its sites with their totals. Whoever
 * wants to report them reads them before, and applies all its records before: a later one would make it
 * known again.
 */
void mapping_set_drop(struct mapping_set *set, uint32_t target_id, uint32_t exec_id);

/*
 * The figures of a site, as of `now_ns`. Mappings younger than `min_age_ns` are counted as young, and the ages
 * are those of the others.
 * False, with `*ret_stats` untouched, if the site never had a mapping. Takes time in proportion to the
 * site's mappings in use, so that asking for all sites is one pass over all mappings.
 */
bool mapping_set_site(const struct mapping_set *set, uint64_t site, uint64_t now_ns,
		      uint64_t min_age_ns, struct site_stats *ret_stats);

/* Count the site's mappings in use by their births, without those that are younger than `min_age_ns`. */
void mapping_set_count_births(const struct mapping_set *set, uint64_t site, uint64_t now_ns,
			      uint64_t min_age_ns, const struct marks *marks,
			      struct generations *births);

/* A piece of memory that is mapped, and the site that has mapped it. */
struct mapping_piece {
	uint32_t target_id, exec_id;
	uint64_t site;
	uint64_t start, end; /* whole pages */
	bool anonymous; /* of no file, as far as the call that mapped it shows */
};

/*
 * Ask for each mapped piece how much of it is in memory: `measure` returns false if that is unknown. The figures of a site have
 * the answers until the next time.
 */
void mapping_set_measure(struct mapping_set *set,
			 bool (*measure)(void *context, const struct mapping_piece *piece,
					 uint64_t *ret_resident),
			 void *context);

struct mapping_losses mapping_set_losses(const struct mapping_set *set);
/* Number of mappings in use. */
size_t mapping_set_count(const struct mapping_set *set);

#endif
