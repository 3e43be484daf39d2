/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mimalloc 2.0.9 to 2.1.2 with 64-bit words, neither secure nor debug builds (which encode lists):
 * its segments and pages. Segments of 32 MB are aligned to 32 MB and begin with their description.
 * They are divided into slices of 64 KB; one or more form a page of blocks of one size. Free blocks
 * are in lists through their first words.
 */
#ifndef HEAP_MIMALLOC_SEGMENT_H
#define HEAP_MIMALLOC_SEGMENT_H

#include "image/image_search.h"

#define MIMALLOC_SEGMENT (32ull << 20)
#define MIMALLOC_SLICE 65536ull
#define MIMALLOC_SLICES 512

/* The offset of the first block from the first slice, for a page of small blocks. */
struct mimalloc_shift {
	uint64_t most; /* limit of block size; larger ones use the next entry, or no offset */
	uint64_t blocks, bytes;
};

/*
 * Differences between releases. A page's description states how many blocks fit, which only one
 * form matches.
 */
struct mimalloc_form {
	const char *version;
	struct mimalloc_shift shifts[2];
};

#define MIMALLOC_FORMS 2

extern const struct mimalloc_form mimalloc_forms[MIMALLOC_FORMS];

struct heap_layout {
	const struct mimalloc_form *form;
	uint64_t cookie; /* address ^ cookie in each segment; 0 = any */
};

/* A page, or free slices. */
struct mimalloc_page {
	uint64_t address; /* of the description */
	uint64_t start, size; /* its memory */
	uint64_t block_size; /* 0 = free slices */
	uint64_t free, local_free, thread_free; /* lists */
	uint64_t heap; /* 0 = its thread has ended */
	uint32_t capacity, used;
	uint32_t most; /* blocks that fit, according to the description */
	bool huge; /* the only page of its segment */
};

struct mimalloc_segment {
	const struct mimalloc_form *form;
	/* All slices; for a free huge block at most 32 MB: other segments may follow. */
	uint64_t address, size;
	uint64_t thread; /* 0 = none */
	uint64_t entries; /* slices with a description */
	uint64_t first; /* first slice after the segment's own description */
	bool huge; /* a single block */
};

struct mimalloc_visit {
	bool (*segment)(void *context, const struct mimalloc_segment *segment); /* may be NULL */
	bool (*page)(void *context, const struct mimalloc_page *page); /* may be NULL */
	void *context; /* false = stop */
	/*
	 * Read the descriptions of a segment's pages at once, if nothing else is read; otherwise
	 * each as its page is visited.
	 */
	bool at_once;
	uint64_t segments, odd_segments, odd_pages; /* results; odd: inconsistent ones */
};

/* Visit all segments with this cookie (0 = any) and their pages; nothing inside huge blocks. */
void mimalloc_visit(const struct heap_layout *layout, struct image *image,
		    struct mimalloc_visit *visit);
/*
 * Decode the description of slice `index`; false if inconsistent. `ret_slices`: the number of
 * slices it covers.
 */
bool mimalloc_page_read(struct image *image, const struct mimalloc_segment *segment, uint64_t index,
			struct mimalloc_page *ret_page, uint64_t *ret_slices);
/* Read a page again: false if it has changed into another one. */
bool mimalloc_page_again(struct image *image, struct mimalloc_page *page);
/* Decode the segment at `address`, a multiple of MIMALLOC_SEGMENT, whatever its cookie is. */
bool mimalloc_segment_read(const struct mimalloc_form *form, struct image *image, uint64_t address,
			   struct mimalloc_segment *ret_segment, uint64_t *ret_cookie);

#endif
