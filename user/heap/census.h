/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A census: all live blocks of a heap, from before the attach too, by the allocator's own structures, looked at from outside. One file for each
 * allocator, behind one table. Each checks itself, and refuses rather than guesses.
 */
#ifndef HEAP_CENSUS_H
#define HEAP_CENSUS_H

#include "base/buffer.h"
#include "heap/claims.h"
#include "heap/image.h"
#include "heap/thread_list.h"
#include "model/heap_totals.h"

/* A block that is in use. */
struct census_block {
	uint64_t address, size; /* what the program may use; with mallocng what it asked for */
	const unsigned char *bytes; /* how it begins, as far as it was at hand; NULL = not */
	size_t length; /* of `bytes` */
	bool mapped; /* it has a mapping of its own */
};

struct census_sink {
	/* Called in no order of addresses. False = end the walk. NULL = only the totals are wanted. */
	bool (*block)(void *context, const struct census_block *block);
	void *context;
	/*
	 * Called for memory that was not understood, or may not have been walked: that no block was found there means nothing. It may be
	 * more than what the totals count. NULL = that is not wanted.
	 */
	void (*unknown)(void *context, uint64_t start, uint64_t end);
};

/* Give a range to the sink, which may be NULL. */
void census_sink_unknown(const struct census_sink *sink, uint64_t start, uint64_t end);

/* Blocks that an allocator's counters have in use. */
struct census_use {
	uint64_t blocks, bytes;
};

/*
 * At the end of a walk, before the counters are read once more: see what has been mapped meanwhile. False: there is no time to
 * list all of it, and what was listed before stays, or the process has gone.
 */
bool census_refresh(struct image *image);
/*
 * At the end of a walk: `seen` is the sum of the counters when their blocks were walked, `now` that of the same counters, read once
 * more without the blocks. That takes a fraction of the time of the walk, so it is nearly the sum of a moment. Where both are
 * apart, blocks have moved past the walk, and some were seen twice or not at all: that is remarked. Nothing is where there was
 * no time to read all of them.
 */
void census_check_use(struct image *image, const struct census_use *seen,
		      const struct census_use *now, struct heap_totals *totals);

struct heap_layout; /* of the allocator that found it */

struct heap_allocator {
	const char *name; /* "glibc" */
	/*
	 * Is the allocator at work in the process? 0 with `ret_layout`; -ENOENT: it is not; -ENOTSUP: it is, and its structures are not
	 * what they should be: `reason` has a sentence.
	 */
	int (*find)(struct image *image, const struct thread_list *threads,
		    struct heap_layout **ret_layout, struct error *reason);
	void (*claim)(const struct heap_layout *layout, struct image *image, struct claims *claims);
	/*
	 * Walk all of it. Fills in the totals; what failed a check is in their `remarks`. Returns 0, or a negative errno
	 * if it could not be walked; then blocks that the sink has got are of no heap. Reads are bounded by the memory that is present.
	 */
	int (*walk)(const struct heap_layout *layout, struct image *image,
		    const struct census_sink *sink, struct heap_totals *ret_totals);
	void (*free)(struct heap_layout *layout);
};

extern const struct heap_allocator heap_jemalloc, heap_tcmalloc, heap_mimalloc, heap_mallocng,
	heap_glibc;

/* In the order in which they are tried: a preloaded one comes before the C library's. Ended by NULL. */
extern const struct heap_allocator *const census_allocators[];

#endif
