/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walking a user stack by unwind tables, from one instruction out to the thread's first function.
 *
 * Entry point: unwind_stack(). The includer brings the kernel's types and the helpers, so that the same code runs
 * in tests on the host.
 *
 * What makes it fast: the stack is read in windows of 4 KB, since one such copy costs as much as two reads of
 * eight bytes; rules found once are remembered by pc; a saved frame pointer is read only when a rule asks for it.
 * What makes it load on every kernel: the state lives in map memory, steps and searches are global functions
 * that the verifier looks at once, and searches have no branches.
 */
#ifndef UNWIND_BPF_H
#define UNWIND_BPF_H

#include "tracer_abi.h"
#include "unwind_abi.h"
#include "unwind_maps.bpf.h"

#define UNWIND_PAGE_SIZE 4096
/*
 * Bits of user addresses. On arm64 a return address may be signed in those above; and instructions are four bytes long, so
 * that the cache needs no bits for the places in them.
 */
#if defined(__TARGET_ARCH_arm64)
#define UNWIND_HAS_LR 1
#define UNWIND_ADDRESS_BITS 48
#define UNWIND_PC_SHIFT 2
#define UNWIND_WITHOUT_SIGNATURE(ip) ((ip) & ((1ULL << UNWIND_ADDRESS_BITS) - 1))
#else
#define UNWIND_HAS_LR 0
#define UNWIND_ADDRESS_BITS 47
#define UNWIND_PC_SHIFT 0
#define UNWIND_WITHOUT_SIGNATURE(ip) (ip)
#endif
#define UNWIND_WINDOW_WORDS 512
#define UNWIND_WINDOW_BYTES (UNWIND_WINDOW_WORDS * 8)

/* Callee-saved registers stand in the 64 bytes below the CFA: a window starts there to cover them. */
#define UNWIND_WINDOW_LEAD 64

/*
 * A walk ends after the square of this number of turns: more than there are frames, for repaired return addresses and
 * mappings that change under the walk. Two loops, one in the other, are less to verify than one.
 */
#define UNWIND_TURNS 15

/* Parts of a new mapping that are remembered: 4 MB. */
#define UNWIND_BLOCKS_KEPT 64

/* In bp_address: the frame pointer is in `bp`; it is lost. Addresses of the first page are neither. */
#define UNWIND_BP_HERE 0
#define UNWIND_BP_LOST 1

/* Of the kernel's tree of mappings: 65,530 is the limit of a process's mappings. */
#define UNWIND_TREE_HEIGHT 34

/* A stack frame may be this large before a frame pointer that points so far is not believed. */
#define UNWIND_GUESS_MAX (1ULL << 20)

/* What unwind_find answers besides positions of rows; enum unwind_end is below these. */
#define UNWIND_FOUND_NOTHING 0x40000000u /* plus an enum unwind_end */
#define UNWIND_FOUND_AGAIN 0x7fffffffu /* the mappings changed meanwhile: ask again */

enum unwind_flags {
	UNWIND_EXACT = 1, /* ip is the next instruction; otherwise it is a return address */
	UNWIND_BY_BP = 2, /* follow frame pointers only, no tables */
	UNWIND_GUESSED =
		4, /* a frame without rows was left, or taken for the last one, by its bp */
	UNWIND_GUESSED_ON = 8, /* and there are frames behind it, which may be wrong */
	UNWIND_SIGNAL = 32, /* a signal frame was left */
	UNWIND_ZERO = 64, /* it ended at a return address of 0, not by a rule */
	/* sp is only known to be at or above `sp`; never on x86-64 */
	UNWIND_SP_LOST = UNWIND_HAS_LR * 16,
	UNWIND_SIGNALS = 256, /* from here on, the number of signal frames that were left */
};

/* A signal frame may lead to itself, and to leave one takes long. No program interrupts so many handlers. */
#define UNWIND_SIGNALS_MAX 8

/* State of one walk. */
struct unwind {
	__u64 ip;
	__u64 sp;
	__u64 bp; /* valid if bp_address is UNWIND_BP_HERE */
	__u64 lr; /* arm64: the register with the return address, valid with UNWIND_EXACT */
	__u64 bp_address; /* where bp is saved, or UNWIND_BP_HERE, UNWIND_BP_LOST */
	__u64 window_start; /* user address of window[0] */
	__u64 window_bytes; /* valid bytes of the window */
	__u64 extent; /* of the stack at the thread's last walk, bytes; anything else if it changed stacks */
	__u64 hash; /* of the frames; what it begins with is the caller's */
	__u32 process; /* index of the process */
	__u32 generation; /* of its mappings */
	__u32 image;
	__u32 flags; /* enum unwind_flags */
	__u32 depth;
	__u32 rule; /* of the row that was found last */
	struct unwind_vma vma; /* that unwind_find_new found last */
	struct stack_record record; /* end is an enum unwind_end */
	__u64 window[UNWIND_WINDOW_WORDS];
};

/* Where a walk is: the same as there, in registers. */
struct unwind_spot {
	__u64 ip, sp, bp, bp_address;
};

/* The compiler must not know where a value came from, or it makes branches or drops masks. */
#ifdef __bpf__
#define UNWIND_HIDE(value) asm volatile("" : "+r"(value))
#define UNWIND_UNROLL _Pragma("unroll")
#else
#define UNWIND_HIDE(value) ((void)(value))
#define UNWIND_UNROLL
#endif

#ifdef __bpf__
static __always_inline int unwind_vma_of(__u64 pc, struct unwind_vma *vma);
#else
int unwind_vma_of(__u64 pc, struct unwind_vma *vma);
#endif

/* Global functions: the verifier looks at each only once. */
int unwind_find(struct unwind *walk, __u64 pc);
int unwind_find_new(struct unwind *walk, __u64 pc);
__u64 unwind_area_of(__u64 pc);
__u64 unwind_original(__u64 slot);
__u64 unwind_trampoline(void);
int unwind_step(struct unwind *walk);
int unwind_some_steps(struct unwind *walk, __u64 sp);
int unwind_steps(struct unwind *walk, __u64 sp);
int unwind_steps_by_bp(struct unwind *walk);
int unwind_run(struct unwind *walk, __u64 sp);
int unwind_move_window(struct unwind *walk, __u64 address);
int unwind_run_by_bp(struct unwind *walk);

/* Mix one pc into a hash: multiplication spreads to the upper bits, the shift brings them back. */
static __always_inline __u64 unwind_mix(__u64 hash, __u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

/* 1 if a is below b, for numbers below 2^63; no branch. */
static __always_inline __u64 unwind_is_below(__u64 a, __u64 b)
{
	__u64 difference = a - b;

	UNWIND_HIDE(difference);
	difference >>= 63;
	UNWIND_HIDE(difference);
	return difference;
}

/* Position of the last start at or below pc; 0 if there is none. */
static __always_inline __u32 unwind_search_mappings(const struct unwind_mappings *table, __u64 pc)
{
	__u64 at = 0;
	int bit;

	UNWIND_UNROLL
	for (bit = UNWIND_MAPPING_STEPS - 1; bit >= 0; bit--) {
		__u64 candidate = at + (1ULL << bit);
		__u64 above;

		UNWIND_HIDE(candidate);
		above = unwind_is_below(pc, table->starts[candidate & (UNWIND_MAPPINGS_MAX - 1)]);
		at += (above ^ 1) << bit;
	}
	return (__u32)at;
}

/* Position of the last row at or below pc, among those from `at` (which is) up to and without `end`. */
static __always_inline __u32 unwind_search_rows(const __u64 *rows, __u64 at, __u64 end, __u64 pc)
{
	int bit;

	UNWIND_UNROLL
	for (bit = UNWIND_SEARCH_STEPS - 1; bit >= 0; bit--) {
		__u64 candidate = at + (1ULL << bit);
		__u64 inside = unwind_is_below(candidate, end);
		__u64 row;

		UNWIND_HIDE(candidate);
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
	UNWIND_HIDE(at);
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

	UNWIND_HIDE(at);
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
	struct unwind_block block = { .process = walk->process, .image = walk->image };
	const struct unwind_vma *vma = &walk->vma;
	__u32 i;

	block.number = vma->start >> UNWIND_BLOCK_SHIFT;
	for (i = 0; i < UNWIND_BLOCKS_KEPT; i++) {
		if (block.number > (vma->end - 1) >> UNWIND_BLOCK_SHIFT)
			break;
		bpf_map_update_elem(&unwind_new_mappings, &block, vma, BPF_ANY);
		block.number++;
	}
	block.number = pc >> UNWIND_BLOCK_SHIFT;
	bpf_map_update_elem(&unwind_new_mappings, &block, vma, BPF_ANY);
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
	block.image = walk->image;
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
 * The same by what the kernel knows of the mapping: it was made so short a time ago that the loader has not told of
 * it yet, as when a program has just begun. A file that the loader has not seen either has no rows.
 */
static __always_inline int unwind_search_new(struct unwind *walk, __u64 pc)
{
	const struct unwind_vma *vma = &walk->vma;
	struct unwind_file_rows *file;

	if (!unwind_find_new(walk, pc))
		return UNWIND_FOUND_NOTHING + UNWIND_END_NO_MAPPING;
	file = bpf_map_lookup_elem(&unwind_files, &vma->file);
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

	UNWIND_HIDE(at);
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
 * Position of the row of a pc, with its rule in the walk; or UNWIND_FOUND_*. The loader may write at any time to the table
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
	return unwind_is_current(walk, generation) ? found : (int)UNWIND_FOUND_AGAIN;
}

/* The rule of a pc, to be remembered in a word of the cache. Returns 0, or what unwind_find says in place of a row. */
static __always_inline __u32 unwind_rule_new(struct unwind *walk, __u64 pc, __u64 *word,
					     __u32 *ret_rule)
{
	__u64 tag = UNWIND_CACHE_TAG(pc >> UNWIND_PC_SHIFT, walk->generation);
	__u32 found = (__u32)unwind_find(walk, pc), rule;

	if (found >= UNWIND_FOUND_NOTHING)
		return found;
	*ret_rule = rule = walk->rule;
	tag |= UNWIND_SHORT_FITS(rule) ? UNWIND_SHORT(rule) : UNWIND_SHORT_OF_ROW(found);
	*(volatile __u64 *)word = tag;
	return 0;
}

/* A rule that is too long for the cache, which says where its row stands. Returns as unwind_rule does. */
static __always_inline __u32 unwind_rule_long(struct unwind *walk, __u32 position, __u32 *ret_rule)
{
	__u32 process = walk->process;
	__u32 *generation = bpf_map_lookup_elem(&unwind_generations, &process);

	if (!generation)
		return UNWIND_FOUND_NOTHING + UNWIND_END_NO_TABLE;
	*ret_rule = unwind_rule_at(position);
	return unwind_is_current(walk, generation) ? 0 : UNWIND_FOUND_AGAIN;
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
	UNWIND_HIDE(slot);
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

#include "unwind_memory.bpf.h"
#include "unwind_step.bpf.h"
#include "unwind_run.bpf.h"

/* Where a walk starts: between two instructions of the current thread. */
struct unwind_from {
	__u64 ip, sp, bp; /* the registers there */
	__u64 lr; /* arm64: another one, if ip is no return address */
	__u32 owner; /* key of the process in unwind_processes */
	__u32 image; /* tells its programs apart */
	__u32 depth; /* frames to keep, from the innermost */
	__u32 flags; /* UNWIND_EXACT unless ip is a return address; UNWIND_BY_BP */
};

/* A process without tables is walked by its frame pointers. */
static __always_inline void unwind_start(struct unwind *walk, const struct unwind_from *from)
{
	__u32 *process = NULL, *generation = NULL, owner = from->owner, index = 0;

	walk->ip = from->ip;
	walk->sp = from->sp;
	walk->bp = from->bp;
	if (UNWIND_HAS_LR)
		walk->lr = from->lr;
	walk->bp_address = UNWIND_BP_HERE;
	walk->window_start = 0;
	walk->window_bytes = 0;
	walk->flags = from->flags;
	walk->depth = from->depth;
	walk->record.count = 0;
	walk->record.end = UNWIND_END_DEPTH;
	if (!(from->flags & UNWIND_BY_BP))
		process = bpf_map_lookup_elem(&unwind_processes, &owner);
	if (process) {
		index = *process;
		generation = bpf_map_lookup_elem(&unwind_generations, &index);
	}
	walk->process = index;
	walk->image = from->image;
	walk->generation = generation ? *(volatile __u32 *)generation : 0;
	if (!generation)
		walk->flags |= UNWIND_BY_BP;
}

/* Some steps of a walk. Returns 1 at its end, and where it stands at the stack pointer `sp`. */
__noinline int unwind_some_steps(struct unwind *walk, __u64 sp)
{
	__u32 turn;

	for (turn = 0; walk && turn < UNWIND_TURNS; turn++) {
		unwind_run(walk, sp);
		if ((sp && walk->sp == sp) || unwind_step(walk))
			return 1;
	}
	return 0;
}

/* The steps of a walk, to its end or, unless `sp` is 0, until it stands at this stack pointer: then returns 1. */
__noinline int unwind_steps(struct unwind *walk, __u64 sp)
{
	__u32 turn;

	if (!walk)
		return 0;
	unwind_fill(walk, walk->sp & ~7ULL);
	for (turn = 0; turn < UNWIND_TURNS; turn++)
		if (unwind_some_steps(walk, sp))
			break;
	return sp && walk->sp == sp;
}

__noinline int unwind_steps_by_bp(struct unwind *walk)
{
	__u32 turn;

	for (turn = 0; turn <= STACK_FRAMES_MAX / UNWIND_RUN_FRAMES_BY_BP; turn++)
		if (unwind_run_by_bp(walk))
			return 1;
	return 0;
}

static __always_inline void unwind_finish(struct unwind *walk)
{
	walk->hash = walk->hash ? walk->hash : 1;
}

/*
 * Walk the stack of the current thread. Leaves the frames, their count, the end and the hash (never 0) in `walk`; in
 * its flags, whether it was by frame pointers.
 */
static __always_inline void unwind_stack(struct unwind *walk, const struct unwind_from *from)
{
	unwind_start(walk, from);
	if (walk->flags & UNWIND_BY_BP)
		unwind_steps_by_bp(walk);
	else
		unwind_steps(walk, 0);
	walk->extent = walk->sp - from->sp;
	unwind_finish(walk);
}

#endif
