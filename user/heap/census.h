/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A census lists all live blocks of a heap, including those from before the attach, by the
 * allocator's own structures, read from outside. One file per allocator, behind one table. Each
 * checks itself, and refuses rather than guesses.
 */
#ifndef HEAP_CENSUS_H
#define HEAP_CENSUS_H

#include "base/buffer.h"
#include "image/claims.h"
#include "image/image.h"
#include "image/thread_list.h"
#include "model/heap_totals.h"

/* A block in use. */
struct census_block {
	uint64_t address, size; /* usable size; with musl the requested size */
	const unsigned char *bytes; /* its first bytes, if they were read anyway; NULL = not read */
	size_t length; /* of `bytes` */
	bool mapped; /* it has its own mapping */
};

struct census_sink {
	/* Called in arbitrary order. False = end the walk. NULL = only totals are needed. */
	bool (*block)(void *context, const struct census_block *block);
	void *context;
	/*
	 * Called for memory that was not understood, or possibly not walked: the absence of a block
	 * there proves nothing. May cover more than the totals count. NULL = not needed.
	 */
	void (*unknown)(void *context, uint64_t start, uint64_t end);
	/*
	 * Called for memory in which an allocator keeps addresses of free blocks, and has words left of such as were free before: none of
	 * them leads anywhere. NULL = that is not wanted.
	 */
	void (*free_list)(void *context, uint64_t start, uint64_t end);
	/*
	 * Blocks are wanted, too, where it is not clear which of some are free, since the process is at work: memory with such goes to
	 * `unknown`, and the totals have `is_listed`.
	 */
	bool partial;
};

/* Pass a range to `unknown` of the sink, which may be NULL. */
void census_sink_unknown(const struct census_sink *sink, uint64_t start, uint64_t end);

/* Blocks in use according to an allocator's counters. */
struct census_use {
	uint64_t blocks, bytes;
};

/*
 * Call at the end of a walk, before the counters are read again: lists new mappings. False: there
 * is no time to list them all, and the old list stays, or the process is gone.
 */
bool census_refresh(struct image *image);
/* What makes no sense does so in both of two readings: else it has changed, or was newer than the list of mappings. */
static inline uint64_t census_both(uint64_t first, uint64_t second)
{
	return first < second ? first : second;
}
/*
 * Call at the end of a walk: `seen` is the sum of the counters when their blocks were walked, `now`
 * their sum when read again, without the blocks. The second reading takes a fraction of the time,
 * so it is nearly a sum of one moment. If the two differ, the heap has grown, or blocks have moved
 * past the walk, and some were seen twice or not at all: adds a remark, unless there was no time to
 * read all counters.
 */
void census_check_use(struct image *image, const struct census_use *seen,
		      const struct census_use *now, struct heap_totals *totals);

struct heap_layout; /* private to the allocator */

struct heap_allocator {
	const char *name; /* "glibc" */
	/*
	 * Detect the allocator. Returns 0 with `ret_layout`; -ENOENT if the process does not use
	 * it; -ENOTSUP if it does, but its structures are not as expected: `reason` has a sentence.
	 */
	int (*find)(struct image *image, const struct thread_list *threads,
		    struct heap_layout **ret_layout, struct error *reason);
	void (*claim)(const struct heap_layout *layout, struct image *image, struct claims *claims);
	/*
	 * Walk the whole heap. Fills in the totals; failed checks are in their `remarks`. Returns
	 * 0, or a negative errno if it could not be walked; then nothing was passed to the sink.
	 * Reads are bounded by resident memory.
	 */
	int (*walk)(const struct heap_layout *layout, struct image *image,
		    const struct census_sink *sink, struct heap_totals *ret_totals);
	void (*free)(struct heap_layout *layout);
};

extern const struct heap_allocator heap_jemalloc, heap_tcmalloc, heap_mimalloc, heap_musl,
	heap_glibc;

/* In the order of detection: a preloaded allocator before the C library's. NULL-terminated. */
extern const struct heap_allocator *const census_allocators[];

#endif
