/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the files of the census of glibc's malloc: arenas and heaps of a process (glibc_find.c,
 * glibc_map.c), the walk from chunk to chunk (glibc_walk.c), lists of chunks that are free but not
 * marked so (glibc_lists.c), what malloc_trim would return (glibc_trim.c), and chunks with their
 * own mapping (glibc_mapped.c). A chunk is a block with its header.
 */
#ifndef HEAP_GLIBC_HEAP_H
#define HEAP_GLIBC_HEAP_H

#include "heap/census.h"

enum glibc_chunk {
	GLIBC_PREV_INUSE = 1,
	GLIBC_MMAPPED = 2,
	GLIBC_NON_MAIN = 4,
	GLIBC_FLAGS = 15, /* sizes are multiples of 16 */
	GLIBC_HEADER = 16, /* from the chunk to its block */
	GLIBC_CHUNK_MIN = 32,
};

enum glibc_bins {
	GLIBC_BINS = 127,
	GLIBC_FASTBINS = 10,
	GLIBC_SMALL_BINS = 64, /* of a thread's cache */
	GLIBC_BINS_OLD = 112, /* their offset in an arena with fastbins: up to glibc 2.42 */
	GLIBC_BINS_NEW = 24, /* and without: 2.43 */
};

#define GLIBC_HEAP_MAX (64ull << 20) /* alignment and maximal size of heaps of arenas */
#define GLIBC_FIRST_CHUNKS 4096 /* from their start: there are chunks in each of them */
#define GLIBC_ARENAS_MAX 16384
#define GLIBC_HEAPS_MAX 65536
#define GLIBC_WALK_BUFFER (1u << 20) /* limit of read-ahead */
#define GLIBC_WALK_BUFFER_MIN 16384u

struct glibc_arena {
	uint64_t address, top;
	uint64_t system_mem;
	uint64_t heap_bytes; /* sum of its heaps: must equal system_mem */
	/*
	 * Of the main arena: the end of its memory by malloc's count, if that lies beyond the list of
	 * mappings, since the heap has grown after it was made; else 0.
	 */
	uint64_t late_end;
	uint64_t fast[GLIBC_FASTBINS]; /* the first chunk of each list */
};

/* A run of chunks without a gap. */
struct glibc_heap {
	uint64_t mapped; /* start of its memory, including what precedes the first chunk */
	uint64_t start, end; /* its chunks */
	size_t arena;
	bool anchored; /* a chunk begins at `start`; else search for one */
};

/* The arenas, the main one first, and their heaps in the order of addresses. */
struct glibc_map {
	struct glibc_arena *arenas;
	size_t arena_count, arena_capacity;
	struct glibc_heap *heaps;
	size_t heap_count, heap_capacity;
	uint64_t brk_end; /* end of the main heap's memory; 0 = none */
	bool cyclic; /* heaps form a cycle */
	bool late; /* some memory of arenas is newer than the list of mappings */
	/* The main arena's top, if `late`; before a read, that of the read before it; 0 = unknown */
	uint64_t early_top;
};

/* Fields of malloc_par. */
struct glibc_par {
	bool found;
	uint64_t address; /* of its field tcache_bins */
	bool has_thp; /* it has fields for huge pages: glibc 2.35 and later */
	uint64_t sbrk_base, mmapped_mem, thp_pagesize, tcache_count;
	uint32_t n_mmaps;
};

/* A chunk with its own mapping, or part of one. */
struct glibc_mapped {
	uint64_t start, end; /* the memory */
	uint64_t address, size; /* the block */
};

struct glibc_mapped_list {
	struct glibc_mapped *items;
	size_t count, capacity;
	uint64_t bytes;
};

struct heap_layout {
	uint64_t main_arena;
	uint64_t bins; /* offset of the bins in an arena */
	uint64_t par; /* address; 0 = not found */
	uint64_t *tcaches; /* blocks that threads use as their cache, in address order */
	size_t tcache_count, tcache_capacity;
	/* Threads with one of these; a thread may also point to other blocks of this size */
	size_t tcache_threads;
	struct glibc_map map; /* as found */
	struct glibc_mapped_list mapped;
};

/* glibc_find.c: find the main arena; 0, -ENOENT or -ENOTSUP with `reason`. Fills main_arena, bins and par. */
int glibc_find_arena(struct image *image, struct heap_layout *layout, struct error *reason);

/* glibc_map.c */
/* Read the arenas and their heaps; false if the arenas' chain does not close. */
bool glibc_map_read(const struct heap_layout *layout, struct image *image, struct glibc_map *map);
/*
 * The same, with retries: refreshes the mappings each time the chain does not close, since arenas
 * may have been created, and once if they are older than the heaps. False: `map` is empty.
 */
bool glibc_map_read_settled(const struct heap_layout *layout, struct image *image,
			    struct glibc_map *map);
void glibc_map_free(struct glibc_map *map);
void glibc_par_read(const struct heap_layout *layout, struct image *image, struct glibc_par *par);
bool glibc_arena_read(const struct heap_layout *layout, struct image *image,
		      struct glibc_arena *arena);
/* The heap that has a chunk at `address`, or NULL. */
const struct glibc_heap *glibc_map_heap(const struct glibc_map *map, uint64_t address);

/*
 * glibc_mapped.c: find chunks with their own mapping. From the candidates, takes as many as malloc
 * counts, and if possible with the same total of bytes.
 */
void glibc_mapped_find(const struct glibc_map *map, struct image *image,
		       const struct glibc_par *par, struct glibc_mapped_list *list);
/*
 * The same a moment later. Reuses the earlier result, without a search, if each chunk is still
 * there and malloc counts the same number and bytes.
 */
void glibc_mapped_find_again(const struct glibc_map *map, struct image *image,
			     const struct glibc_par *par, const struct glibc_mapped_list *before,
			     struct glibc_mapped_list *list);
/*
 * While their number grows: finds those at the starts of mappings, which were listed after malloc
 * counted `before`, and before it counted `now`. False, with an empty list: they are fewer than
 * `before` or more than `now`.
 */
bool glibc_mapped_find_grown(const struct glibc_map *map, struct image *image,
			     const struct glibc_par *before, const struct glibc_par *now,
			     struct glibc_mapped_list *list);
void glibc_mapped_free(struct glibc_mapped_list *list);

/* A chunk that may be in a list of free ones. */
struct glibc_candidate {
	uint64_t chunk;
	uint64_t word; /* first word of the block: the encoded link to the next one */
	uint64_t size : 48;
	uint64_t state : 2; /* enum glibc_candidate_state */
};

enum glibc_candidate_state { GLIBC_LIVE, GLIBC_CACHED, GLIBC_FAST };

/* Neighbours that may merge when lists are emptied: free chunks, candidates, the top. */
struct glibc_piece {
	uint64_t chunk;
	uint64_t size : 48;
	uint64_t kind : 2; /* enum glibc_piece_kind */
};

enum glibc_piece_kind { GLIBC_PIECE_FREE, GLIBC_PIECE_CANDIDATE, GLIBC_PIECE_TOP, GLIBC_PIECE_GAP };

struct glibc_walk {
	struct image *image;
	const struct heap_layout *layout;
	struct glibc_map *map;
	struct glibc_par par;
	const struct census_sink *sink; /* NULL = none */
	struct heap_totals *totals;
	bool ended; /* the sink has ended the walk */
	bool grew; /* the heap has grown beyond what can be walked */
	uint64_t mapped_bytes; /* of chunks with mappings that were found */
	/* The data read last. */
	unsigned char *bytes;
	uint64_t start;
	size_t length, ahead, room; /* ahead: size of the next read; room: capacity of `bytes` */
	const struct glibc_heap *heap;
	uint64_t top; /* top chunk of the heap; 0 = none */
	uint64_t retried; /* the chunk read again */
	unsigned int refreshes;
	uint64_t low, high; /* bounds of all heaps */
	struct glibc_candidate *candidates; /* in address order within a heap */
	size_t candidate_count, candidate_capacity;
	uint64_t candidates_lost;
	/* Links of lists are encoded with their addresses, or plain; neither = unknown. */
	bool coded, plain;
	uint32_t *slots; /* glibc_lists.c: hash table of positions of candidates, plus one */
	size_t slot_mask;
	uint64_t slot_seed;
	unsigned int list_reads;
	uint64_t lists_changed; /* lists that could be followed to their ends at a retry */
	uint64_t lists_differ; /* lists that could not be followed to their ends */
	uint64_t lists_unknown; /* the part of them whose chunks cannot be recognized */
	/*
	 * By small size: state of the chunks of a list that could not be followed to its end;
	 * GLIBC_LIVE = none.
	 */
	uint8_t broken[GLIBC_SMALL_BINS];
	uint64_t orphans; /* chunks that look like members of such a list */
	struct glibc_piece *pieces;
	size_t piece_count, piece_capacity;
	size_t run_start; /* index in `pieces` of the first of the current run of neighbours */
	bool run_has_candidate;
	uint64_t *caches; /* tcaches found in the walk */
	size_t cache_count, cache_capacity;
	uint64_t cache_chunk; /* the size of their chunks */
	uint64_t caches_odd; /* caches that threads seem to use, with invalid lists */
	uint64_t caches_known; /* caches that threads use, with valid lists */
};

/* glibc_walk.c: all chunks of a heap. */
void glibc_walk_heap(struct glibc_walk *walk, const struct glibc_heap *heap);
/* glibc_blocks.c */
/* Is all of [address, address + size) in the data read last? */
bool glibc_blocks_hold(const struct glibc_walk *walk, uint64_t address, size_t size);
/* Count a block in use, and pass it to the sink. `bytes` may be NULL. */
void glibc_blocks_live(struct glibc_walk *walk, uint64_t chunk, uint64_t size,
		       const unsigned char *bytes, size_t length);
/*
 * At least `least` bytes at `address`, or NULL; `ret_length` is their number. Valid until the next
 * call.
 */
const unsigned char *glibc_blocks_bytes(struct glibc_walk *walk, uint64_t address, size_t least,
					size_t *ret_length);
/*
 * Resident bytes of a chunk; for a chunk smaller than a page, both ends must just have been read.
 */
uint64_t glibc_blocks_resident(const struct glibc_walk *walk, uint64_t chunk, uint64_t size);

/* glibc_lists.c */
/*
 * If a chunk of this size can be a thread cache, return the cache's size, which reveals the
 * release; else 0.
 */
uint64_t glibc_lists_cache(uint64_t size);
/* Call before the walk: finds out how links are stored. */
void glibc_lists_begin(struct glibc_walk *walk);
/*
 * Can this chunk, which looks in use, be in a list of free ones? If so, keeps it for
 * glibc_lists_end.
 */
bool glibc_lists_take(struct glibc_walk *walk, uint64_t chunk, uint64_t size,
		      const unsigned char *block);
/* Is this chunk a thread cache? If so, keeps it for glibc_lists_end. */
bool glibc_lists_take_cache(struct glibc_walk *walk, uint64_t chunk, uint64_t size,
			    const unsigned char *block, size_t length);
/* Follow the lists and set the state of each candidate; those in no list are blocks in use. */
void glibc_lists_end(struct glibc_walk *walk);

/* glibc_trim.c */
/* Add a free chunk, or a candidate: it can merge with its neighbours. */
void glibc_trim_add(struct glibc_walk *walk, uint64_t chunk, uint64_t size,
		    enum glibc_piece_kind kind);
/* Add a chunk in use: it separates its neighbours. */
void glibc_trim_gap(struct glibc_walk *walk);
/* Call after glibc_lists_end: completes the last run. */
void glibc_trim_end(struct glibc_walk *walk);

static inline uint64_t glibc_size(uint64_t head)
{
	return head & ~(uint64_t)GLIBC_FLAGS;
}

static inline uint64_t glibc_word(const unsigned char *bytes)
{
	uint64_t word;

	__builtin_memcpy(&word, bytes, sizeof(word));
	return word;
}

#endif
