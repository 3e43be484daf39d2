/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the census of glibc's malloc share: the arenas and heaps of a process (glibc_find.c, glibc_map.c), the walk from
 * chunk to chunk (glibc_walk.c), the lists of chunks that are free but not marked so (glibc_lists.c), what malloc_trim would return
 * (glibc_trim.c), and chunks with a mapping of their own (glibc_mapped.c). A chunk is a block with its header.
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
	GLIBC_BINS_OLD = 112, /* where they are in an arena that has fastbins: to glibc 2.42 */
	GLIBC_BINS_NEW = 24, /* and in one without them: 2.43 */
};

#define GLIBC_HEAP_MAX (64ull << 20) /* heaps of arenas are aligned to it, and no larger */
#define GLIBC_ARENAS_MAX 16384
#define GLIBC_HEAPS_MAX 65536
#define GLIBC_WALK_BUFFER (1u << 20) /* what is read ahead at most */
#define GLIBC_WALK_BUFFER_MIN 16384u

struct glibc_arena {
	uint64_t address, top;
	uint64_t system_mem;
	uint64_t heap_bytes; /* of all its heaps: must be system_mem */
	uint64_t fast[GLIBC_FASTBINS]; /* the first chunk of each */
};

/* A run of chunks without a gap. */
struct glibc_heap {
	uint64_t mapped; /* its memory, with what is before the first chunk */
	uint64_t start, end; /* its chunks */
	size_t arena;
	bool anchored; /* a chunk begins at `start`; else one must be searched for */
};

/* The arenas, the main one first, and their heaps in the order of addresses. */
struct glibc_map {
	struct glibc_arena *arenas;
	size_t arena_count, arena_capacity;
	struct glibc_heap *heaps;
	size_t heap_count, heap_capacity;
	uint64_t brk_end; /* where the main heap's memory ends; 0 = it has none */
	bool cyclic; /* heaps lead back to each other */
};

/* Of malloc_par. */
struct glibc_par {
	bool found;
	uint64_t address; /* of its field tcache_bins */
	bool has_thp; /* fields of huge pages: glibc 2.35 and later */
	uint64_t sbrk_base, mmapped_mem, thp_pagesize, tcache_count;
	uint32_t n_mmaps;
};

/* A chunk that has a mapping of its own, or a part of one. */
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
	uint64_t bins; /* where they are in an arena */
	uint64_t par; /* address; 0 = not found */
	uint64_t *tcaches; /* blocks that threads have as their cache, in the order of addresses */
	size_t tcache_count, tcache_capacity;
	size_t tcache_threads; /* that have one of these; a thread may also point to other blocks of this size */
	struct glibc_map map; /* as they were found */
	struct glibc_mapped_list mapped;
};

/* glibc_find.c: find the main arena; 0, -ENOENT or -ENOTSUP with `reason`. Fills main_arena, bins and par. */
int glibc_find_arena(struct image *image, struct heap_layout *layout, struct error *reason);

/* glibc_map.c */
/* Read the arenas and their heaps; false if the arenas' chain does not close. */
bool glibc_map_read(const struct heap_layout *layout, struct image *image, struct glibc_map *map);
/* The same, several times while it does not, with the mappings as they are then: arenas may be made meanwhile. False: `map` is empty. */
bool glibc_map_read_settled(const struct heap_layout *layout, struct image *image,
			    struct glibc_map *map);
void glibc_map_free(struct glibc_map *map);
void glibc_par_read(const struct heap_layout *layout, struct image *image, struct glibc_par *par);
bool glibc_arena_read(const struct heap_layout *layout, struct image *image,
		      struct glibc_arena *arena);
/* The heap that has a chunk at `address`, or NULL. */
const struct glibc_heap *glibc_map_heap(const struct glibc_map *map, uint64_t address);

/*
 * glibc_mapped.c: find chunks with mappings of their own. Of those that look like one, so many are taken as malloc counts, and such
 * that have as many bytes, where there are.
 */
void glibc_mapped_find(const struct glibc_map *map, struct image *image,
		       const struct glibc_par *par, struct glibc_mapped_list *list);
/*
 * The same a moment later. Those that were found before are taken, without a search, if each is there and malloc still counts as many with as
 * many bytes.
 */
void glibc_mapped_find_again(const struct glibc_map *map, struct image *image,
			     const struct glibc_par *par, const struct glibc_mapped_list *before,
			     struct glibc_mapped_list *list);
void glibc_mapped_free(struct glibc_mapped_list *list);

/* A chunk that may be in a list of free ones. */
struct glibc_candidate {
	uint64_t chunk;
	uint64_t word; /* the first of the block: where the next one of the list is, coded */
	uint64_t size : 48;
	uint64_t state : 2; /* enum glibc_candidate_state */
};

enum glibc_candidate_state { GLIBC_LIVE, GLIBC_CACHED, GLIBC_FAST };

/* Neighbours that may become one when lists are emptied: free chunks, candidates, the top. */
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
	bool ended; /* the sink wants no more */
	/* What was read last. */
	unsigned char *bytes;
	uint64_t start;
	size_t length, ahead, room; /* ahead: what is read next; room: of `bytes` */
	const struct glibc_heap *heap;
	uint64_t top; /* of the heap; 0 = it has none */
	uint64_t retried; /* the chunk that was read again */
	unsigned int refreshes;
	uint64_t low, high; /* all heaps are within */
	struct glibc_candidate *candidates; /* in the order of addresses within a heap */
	size_t candidate_count, candidate_capacity;
	uint64_t candidates_lost;
	/* Links of lists are mixed with their addresses, or not; neither = unknown. */
	bool coded, plain;
	uint32_t *slots; /* glibc_lists.c: positions of candidates, plus one, by a hash */
	size_t slot_mask;
	uint64_t slot_seed;
	unsigned int list_reads;
	uint64_t lists_changed; /* were followed again, to their ends then */
	uint64_t lists_differ; /* could not be followed to their ends */
	uint64_t lists_unknown; /* of these, where looks mean nothing */
	/* Of each small size: in which state chunks are of a list that could not be followed to its end; GLIBC_LIVE = there is none. */
	uint8_t broken[GLIBC_SMALL_BINS];
	uint64_t orphans; /* chunks that are in such a list by their looks */
	struct glibc_piece *pieces;
	size_t piece_count, piece_capacity;
	size_t run_start; /* of neighbours that follow each other: the first of them in `pieces` */
	bool run_has_candidate;
	uint64_t *caches; /* tcaches that were met */
	size_t cache_count, cache_capacity;
	uint64_t cache_chunk; /* the size of their chunks */
	uint64_t caches_odd; /* that threads seem to have, and whose lists make no sense */
	uint64_t caches_known; /* that threads have, and whose lists make sense */
};

/* glibc_walk.c: all chunks of a heap. */
void glibc_walk_heap(struct glibc_walk *walk, const struct glibc_heap *heap);
/* glibc_blocks.c */
/* Is all of [address, address + size) in what was read last? */
bool glibc_blocks_hold(const struct glibc_walk *walk, uint64_t address, size_t size);
/* A block in use: count it, and give it to the sink. `bytes` may be NULL. */
void glibc_blocks_live(struct glibc_walk *walk, uint64_t chunk, uint64_t size,
		       const unsigned char *bytes, size_t length);
/* Bytes at `address`, at least `least`, or NULL; `ret_length` is how many there are. They are valid until the next call. */
const unsigned char *glibc_blocks_bytes(struct glibc_walk *walk, uint64_t address, size_t least,
					size_t *ret_length);
/* How many bytes of a chunk are in memory; of one that is smaller than a page, both ends have just been read. */
uint64_t glibc_blocks_resident(const struct glibc_walk *walk, uint64_t chunk, uint64_t size);

/* glibc_lists.c */
/* May a thread's cache be in a chunk of this size? Then the size that it has, which shows the release; else 0. */
uint64_t glibc_lists_cache(uint64_t size);
/* Before the walk: how are links stored? */
void glibc_lists_begin(struct glibc_walk *walk);
/* May this chunk, which looks like one in use, be in a list of free ones? Then it is kept for glibc_lists_end. */
bool glibc_lists_take(struct glibc_walk *walk, uint64_t chunk, uint64_t size,
		      const unsigned char *block);
/* Is this chunk the cache of a thread? Then it is kept for glibc_lists_end. */
bool glibc_lists_take_cache(struct glibc_walk *walk, uint64_t chunk, uint64_t size,
			    const unsigned char *block, size_t length);
/* Follow the lists: each candidate gets its state, those in no list are blocks in use. */
void glibc_lists_end(struct glibc_walk *walk);

/* glibc_trim.c */
/* A free chunk, or a candidate: what is next to it may become one with it. */
void glibc_trim_add(struct glibc_walk *walk, uint64_t chunk, uint64_t size,
		    enum glibc_piece_kind kind);
/* A chunk in use: what is before it and behind it stays apart. */
void glibc_trim_gap(struct glibc_walk *walk);
/* Behind glibc_lists_end: what was left open. */
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
