/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mimalloc 2.0.9 to 2.1.2 with 64-bit words, neither secure nor for debugging (there lists are encoded): its segments and their pages.
 * Segments of 32 MB begin at multiples of 32 MB with their description; they are divided into slices of 64 KB, of which one or
 * more are a page, whose blocks have one size. The free ones are in lists through their first words.
 */
#ifndef HEAP_MIMALLOC_SEGMENT_H
#define HEAP_MIMALLOC_SEGMENT_H

#include "heap/heap_search.h"

#define MIMALLOC_SEGMENT (32ull << 20)
#define MIMALLOC_SLICE 65536ull
#define MIMALLOC_SLICES 512

/* How far behind its first slice a page of small blocks begins. */
struct mimalloc_shift {
	uint64_t most; /* bytes of a block; for larger ones the next is, or they have none */
	uint64_t blocks, bytes;
};

/* What differs between releases. A page's description has how many blocks fit, which is of one form only. */
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

/* A page, or slices that are free. */
struct mimalloc_page {
	uint64_t address; /* of the description */
	uint64_t start, size; /* of its memory */
	uint64_t block_size; /* 0 = free slices */
	uint64_t free, local_free, thread_free; /* lists */
	uint64_t heap; /* 0 = of a thread that has ended */
	uint32_t capacity, used;
	uint32_t most; /* blocks that fit, as the description has it */
	bool huge; /* it is the segment's only one */
};

struct mimalloc_segment {
	const struct mimalloc_form *form;
	/* All slices; of a huge block that is free, at most 32 MB: others may be behind that. */
	uint64_t address, size;
	uint64_t thread; /* 0 = of none */
	uint64_t entries; /* slices with a description */
	uint64_t first; /* slice behind the segment's own description */
	bool huge; /* it is one block */
};

struct mimalloc_visit {
	bool (*segment)(void *context, const struct mimalloc_segment *segment); /* may be NULL */
	bool (*page)(void *context, const struct mimalloc_page *page); /* may be NULL */
	void *context; /* false = enough */
	/* Read the descriptions of a segment's pages all at once, for who reads nothing else; not each as its page is visited. */
	bool at_once;
	uint64_t segments, odd_segments, odd_pages; /* filled in; odd: what made no sense */
};

/* Visit all segments with this cookie (0 = any), and their pages; of what is in a huge block nothing. */
void mimalloc_visit(const struct heap_layout *layout, struct image *image,
		    struct mimalloc_visit *visit);
/* Decode the description of slice `index`; false if it makes no sense. `ret_slices`: how many it is. */
bool mimalloc_page_read(struct image *image, const struct mimalloc_segment *segment, uint64_t index,
			struct mimalloc_page *ret_page, uint64_t *ret_slices);
/* The same page again: false if it has become another. */
bool mimalloc_page_again(struct image *image, struct mimalloc_page *page);
/* Decode the segment at `address`, a multiple of MIMALLOC_SEGMENT, whatever its cookie. */
bool mimalloc_segment_read(const struct mimalloc_form *form, struct image *image, uint64_t address,
			   struct mimalloc_segment *ret_segment, uint64_t *ret_cookie);

#endif
