/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rule of a pc: from the cache, from the tables of the process, or for a new mapping from the kernel's vma. */
#ifndef UNWIND_RULES_BPF_H
#define UNWIND_RULES_BPF_H

#include "unwind_kernel.bpf.h"
#include "unwind_maps.bpf.h"
#include "unwind_state.bpf.h"

/* Global functions: the verifier looks at each only once. */
int unwind_find(struct unwind *walk, __u64 pc);
int unwind_find_new(struct unwind *walk, __u64 pc);

/* 1 if a is below b, for numbers below 2^63; no branch. */
static __always_inline __u64 unwind_is_below(__u64 a, __u64 b)
{
	__u64 difference = a - b;

	HIDE(difference);
	difference >>= 63;
	HIDE(difference);
	return difference;
}

/* Position of the last start at or below pc; 0 if there is none. */
static __always_inline __u32 unwind_search_mappings(const struct unwind_mappings *table, __u64 pc)
{
	__u64 at = 0;
	int bit;

	UNROLL
	for (bit = UNWIND_MAPPING_STEPS - 1; bit >= 0; bit--) {
		__u64 candidate = at + (1ULL << bit);
		__u64 above;

		HIDE(candidate);
		above = unwind_is_below(pc, table->starts[candidate & (UNWIND_MAPPINGS_MAX - 1)]);
		at += (above ^ 1) << bit;
	}
	return (__u32)at;
}

/* Position of the last row at or below pc, among those from `at` (which is) up to and without `end`. */
static __always_inline __u32 unwind_search_rows(const __u64 *rows, __u64 at, __u64 end, __u64 pc)
{
	int bit;

	UNROLL
	for (bit = UNWIND_SEARCH_STEPS - 1; bit >= 0; bit--) {
		__u64 candidate = at + (1ULL << bit);
		__u64 inside = unwind_is_below(candidate, end);
		__u64 row;

		HIDE(candidate);
		row = rows[candidate & unwind_rows_mask];
		at += (inside & (unwind_is_below(pc, UNWIND_ROW_PC(row)) ^ 1)) << bit;
	}
	return (__u32)at;
}

/*
 * Position of the row of an address of a file, whose page index has `count` entries from position `first` on, the
 * first one of page number `first_page`; 0, an end marker, if none describes it.
 */
static __always_inline __u32 unwind_find_row(__u32 first, __u32 first_page, __u32 count, __u64 pc)
{
	__u64 page = (pc >> UNWIND_PAGE_SHIFT) - first_page;
	__u32 *pages, *next;
	__u64 *rows;
	__u32 key = 0;
	__u64 at;

	rows = bpf_map_lookup_elem(&unwind_rows, &key);
	pages = bpf_map_lookup_elem(&unwind_pages, &key);
	if (!rows || !pages || page >= count)
		return 0;
	at = first + page;
	HIDE(at);
	next = pages + ((at + 1) & unwind_pages_mask);
	pages += at & unwind_pages_mask;
	if (!*pages)
		return 0;
	return unwind_search_rows(rows, *pages - 1, *next, pc);
}

/* The table of mappings in use at the walk's generation. */
static __always_inline struct unwind_mappings *unwind_table(const struct unwind *walk)
{
	__u32 key = walk->process * 2 + (walk->generation & 1);

	return bpf_map_lookup_elem(&unwind_tables, &key);
}

static __always_inline int unwind_search(const struct unwind_mappings *table, __u64 pc)
{
	const struct unwind_mapping *mapping;
	__u64 at = unwind_search_mappings(table, pc);

	HIDE(at);
	at &= UNWIND_MAPPINGS_MAX - 1;
	mapping = &table->mappings[at];
	if (table->starts[at] > pc || pc >= mapping->end)
		return UNWIND_FOUND_NOTHING + UNWIND_END_NO_MAPPING;
	if (mapping->flags & UNWIND_MAPPING_ANONYMOUS)
		return UNWIND_FOUND_NOTHING + UNWIND_END_ANONYMOUS;
	return unwind_find_row(mapping->pages, mapping->first_page, mapping->page_count,
			       pc - mapping->bias);
}

/* Remember a mapping for all parts of it; of a large one, for the first and for that of the pc. */
static __always_inline void unwind_keep_new(const struct unwind *walk, __u64 pc)
{
	struct unwind_block block = { .process = walk->process, .exec_id = walk->exec_id };
	/* Linux 6.1 takes no value from the memory that a global function was given. */
	struct unwind_vma vma = walk->vma;
	__u32 i;

	block.number = vma.start >> UNWIND_BLOCK_SHIFT;
	for (i = 0; i < UNWIND_BLOCKS_KEPT; i++) {
		if (block.number > (vma.end - 1) >> UNWIND_BLOCK_SHIFT)
			break;
		bpf_map_update_elem(&unwind_new_mappings, &block, &vma, BPF_ANY);
		block.number++;
	}
	block.number = pc >> UNWIND_BLOCK_SHIFT;
	bpf_map_update_elem(&unwind_new_mappings, &block, &vma, BPF_ANY);
}

/*
 * Put the mapping of a file that holds a pc into `walk->vma`. Returns 1, or 0 if there is none. The kernel cannot always
 * answer, since another thread may be changing the mappings: then what it answered before is taken.
 */
__noinline int unwind_find_new(struct unwind *walk, __u64 pc)
{
	struct unwind_block block = { .number = pc >> UNWIND_BLOCK_SHIFT };
	struct unwind_vma *known;
	int error;

	if (!walk)
		return 0;
	block.process = walk->process;
	block.exec_id = walk->exec_id;
	known = bpf_map_lookup_elem(&unwind_new_mappings, &block);
	error = unwind_vma_of(pc, &walk->vma);
	if (known && pc >= known->start && pc < known->end) {
		if (error == -EBUSY)
			walk->vma = *known;
		return !error || error == -EBUSY;
	}
	if (!error)
		unwind_keep_new(walk, pc);
	return !error;
}

/*
 * The same from the kernel's vma: the mapping is so new that user space has not published it yet, as when a program has
 * just begun. A file that user space has not seen either has no rows.
 */
static __always_inline int unwind_search_new(struct unwind *walk, __u64 pc)
{
	const struct unwind_vma *vma = &walk->vma;
	struct unwind_file_rows *file;
	struct unwind_file_key key;

	if (!unwind_find_new(walk, pc))
		return UNWIND_FOUND_NOTHING + UNWIND_END_NO_MAPPING;
	/* Linux 6.1 takes no key from the memory that a global function was given. */
	key = vma->file;
	file = bpf_map_lookup_elem(&unwind_files, &key);
	if (!file || vma->offset - file->offset >= file->size)
		return UNWIND_FOUND_NOTHING + UNWIND_END_NO_MAPPING;
	return unwind_find_row(file->pages, file->first_page, file->page_count,
			       pc - vma->start + vma->offset - file->offset + file->address);
}

static __always_inline __u32 unwind_rule_at(__u32 position)
{
	__u32 key = 0;
	__u64 *rows = bpf_map_lookup_elem(&unwind_rows, &key);
	__u64 at = position;

	HIDE(at);
	return rows ? UNWIND_ROW_RULE(rows[at & unwind_rows_mask]) : 0;
}

/*
 * Is all good that was read since the walk's generation was? False if it has been succeeded by another one, which is the
 * walk's from then on.
 */
static __always_inline bool unwind_is_current(struct unwind *walk, const __u32 *generation)
{
	__u32 now = *(const volatile __u32 *)generation;

	if (now == walk->generation)
		return true;
	walk->generation = now;
	return false;
}

/*
 * Position of the row of a pc, with its rule in the walk; or UNWIND_FOUND_*. User space may write at any time to the table
 * of an older generation, and to rows and pages that no table of the present one leads to (unwind_maps.bpf.h): what was
 * read is good only if the generation is still the same afterwards.
 */
__noinline int unwind_find(struct unwind *walk, __u64 pc)
{
	struct unwind_mappings *table;
	__u32 *generation, process;
	int found;

	if (!walk)
		return UNWIND_FOUND_NOTHING + UNWIND_END_NO_TABLE;
	if (pc >> UNWIND_ADDRESS_BITS)
		return UNWIND_FOUND_NOTHING + UNWIND_END_NO_MAPPING;
	process = walk->process;
	table = unwind_table(walk);
	generation = bpf_map_lookup_elem(&unwind_generations, &process);
	if (!table || !generation)
		return UNWIND_FOUND_NOTHING + UNWIND_END_NO_TABLE;
	found = unwind_search(table, pc);
	if (found == UNWIND_FOUND_NOTHING + UNWIND_END_NO_MAPPING)
		found = unwind_search_new(walk, pc);
	walk->rule = unwind_rule_at(found);
	return unwind_is_current(walk, generation) ? found : (int)UNWIND_RETRY;
}

/* The same for callers that cannot try again later. Mappings change seldom: the first try is nearly always good. */
static __always_inline __u32 unwind_find_now(struct unwind *walk, __u64 pc)
{
	__u32 found = UNWIND_RETRY;
	int i;

	for (i = 0; i < UNWIND_FIND_TRIES && found == UNWIND_RETRY; i++)
		found = (__u32)unwind_find(walk, pc);
	return found;
}

/* The rule of a pc, to be remembered in a word of the cache. Returns 0, or unwind_find's value in place of a row. */
static __always_inline __u32 unwind_rule_new(struct unwind *walk, __u64 pc, __u64 *word,
					     __u32 *ret_rule)
{
	__u64 tag = UNWIND_CACHE_TAG(pc >> UNWIND_PC_SHIFT, walk->generation);
	__u32 found = (__u32)unwind_find(walk, pc), rule;

	if (found >= UNWIND_FOUND_NOTHING)
		return found;
	*ret_rule = rule = walk->rule;
	if (UNWIND_SHORT_FITS(rule))
		*(volatile __u64 *)word = tag | UNWIND_SHORT(rule);
	else if (found < UNWIND_SHORT_ROWS)
		*(volatile __u64 *)word = tag | UNWIND_SHORT_OF_ROW(found);
	return 0;
}

/* A rule that is too long for the cache, which has the position of its row instead. Returns as unwind_rule does. */
static __always_inline __u32 unwind_rule_long(struct unwind *walk, __u32 position, __u32 *ret_rule)
{
	__u32 process = walk->process;
	__u32 *generation = bpf_map_lookup_elem(&unwind_generations, &process);

	if (!generation)
		return UNWIND_FOUND_NOTHING + UNWIND_END_NO_TABLE;
	*ret_rule = unwind_rule_at(position);
	return unwind_is_current(walk, generation) ? 0 : UNWIND_RETRY;
}

/* The rule of a pc, by the cache if it was asked for before. */
static __always_inline __u32 unwind_rule(struct unwind *walk, __u64 pc, __u32 *ret_rule)
{
	__u32 process = walk->process, brief;
	struct unwind_cache *cache = bpf_map_lookup_elem(&unwind_caches, &process);
	__u64 tag = UNWIND_CACHE_TAG(pc >> UNWIND_PC_SHIFT, walk->generation);
	__u64 slot = UNWIND_CACHE_SLOT(pc >> UNWIND_PC_SHIFT);
	__u64 word;

	if (!cache)
		return UNWIND_FOUND_NOTHING + UNWIND_END_NO_TABLE;
	/* The tag has no room for more: another pc would be found. */
	if (pc >> UNWIND_ADDRESS_BITS)
		return UNWIND_FOUND_NOTHING + UNWIND_END_NO_MAPPING;
	HIDE(slot);
	slot &= UNWIND_CACHE_WORDS - 1;
	word = *(volatile __u64 *)&cache->words[slot];
	if ((word ^ tag) >> 24)
		return unwind_rule_new(walk, pc, &cache->words[slot], ret_rule);
	brief = UNWIND_CACHE_RULE(word);
	if (UNWIND_RULE_CFA(brief) == UNWIND_CFA_UNSUPPORTED)
		return unwind_rule_long(walk, UNWIND_SHORT_ROW(brief), ret_rule);
	*ret_rule = UNWIND_SHORT_RULE(brief);
	return 0;
}

#endif
