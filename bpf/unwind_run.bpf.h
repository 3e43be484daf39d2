/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many frames in one go: those that need least, with the state of the walk in registers. Where a frame needs more, it
 * is left to unwind_step.
 */
#ifndef UNWIND_RUN_BPF_H
#define UNWIND_RUN_BPF_H

#include "unwind_step.bpf.h"

/* Global functions: the verifier looks at each only once. */
int unwind_run(struct unwind *walk, __u64 sp);
int unwind_move_window(struct unwind *walk, __u64 address);
int unwind_run_by_bp(struct unwind *walk);

/* Frames of one go: the verifier looks at each of them. */
#define UNWIND_RUN_FRAMES 8
#define UNWIND_RUN_FRAMES_BY_BP 4 /* each takes the verifier long */

/* The rule of a pc, if it is remembered; a rule that is too long for the cache comes as an unsupported one. */
static __always_inline bool unwind_recall(const struct unwind_cache *cache, __u32 generation,
					  __u64 pc, __u32 *ret_rule)
{
	__u64 key = pc >> UNWIND_PC_SHIFT, slot = UNWIND_CACHE_SLOT(key);
	__u64 word;

	HIDE(slot);
	slot &= UNWIND_CACHE_WORDS - 1;
	word = *(volatile __u64 *)&cache->words[slot];
	if (pc >> UNWIND_ADDRESS_BITS || (word ^ UNWIND_CACHE_TAG(key, generation)) >> 24)
		return false;
	*ret_rule = UNWIND_SHORT_RULE(UNWIND_CACHE_RULE(word));
	return true;
}

/* Keep and leave the frames of return addresses, as unwind_step does, up to the first that needs more. */
static __always_inline void unwind_run_with(struct unwind *walk, const struct unwind_cache *cache,
					    __u64 sp)
{
	struct unwind_spot spot = { walk->ip, walk->sp, walk->bp, walk->bp_address };
	__u32 at, most = walk->depth, rule = 0, generation = walk->generation;
	__u64 hash = walk->hash;
	int turn;

	if (most > STACK_FRAMES_MAX)
		most = STACK_FRAMES_MAX;
	for (turn = 0; turn < UNWIND_RUN_FRAMES; turn++) {
		__u64 ip = spot.ip, index;

		at = walk->record.count;
		if (at >= most || spot.sp == sp ||
		    !unwind_recall(cache, generation, ip - 1, &rule) ||
		    !unwind_hop(walk, rule, &spot))
			break;
		index = at;
		HIDE(index);
		if (index < STACK_FRAMES_MAX)
			walk->record.pcs[index] = ip;
		hash = mix(hash, ip);
		walk->record.count = at + 1;
	}
	walk->ip = spot.ip;
	walk->sp = spot.sp;
	walk->bp = spot.bp;
	walk->bp_address = spot.bp_address;
	walk->hash = hash;
}

/* As far as that, or until the walk is at the stack pointer `sp`. */
__noinline int unwind_run(struct unwind *walk, __u64 sp)
{
	struct unwind_cache *cache;
	__u32 process;

	if (!walk || walk->flags & (UNWIND_EXACT | UNWIND_SP_LOST))
		return 0;
	process = walk->process;
	cache = bpf_map_lookup_elem(&unwind_caches, &process);
	if (cache)
		unwind_run_with(walk, cache, sp);
	return 0;
}

/* Let the window begin at `address`. */
__noinline int unwind_move_window(struct unwind *walk, __u64 address)
{
	return walk && unwind_fill(walk, address);
}

/* The two words that a frame pointer points at. */
static __always_inline bool unwind_read_frame(struct unwind *walk, __u64 bp, __u64 *ret_next,
					      __u64 *ret_ip)
{
	if (unwind_peek(walk, bp, ret_next) && unwind_peek(walk, bp + 8, ret_ip))
		return true;
	return unwind_move_window(walk, bp) && unwind_peek(walk, bp, ret_next) &&
	       unwind_peek(walk, bp + 8, ret_ip);
}

/* Frame pointers only: the chain ends where it stops to look like one. Returns 1 when the walk is over. */
__noinline int unwind_run_by_bp(struct unwind *walk)
{
	__u64 ip, bp, hash, next = 0, index;
	__u32 end = UNWIND_END_DEPTH;
	int turn;

	if (!walk)
		return 1;
	ip = walk->ip;
	bp = walk->bp;
	hash = walk->hash;
	for (turn = 0; turn < UNWIND_RUN_FRAMES_BY_BP; turn++) {
		index = walk->record.count;
		HIDE(index);
		if (index >= walk->depth || index >= STACK_FRAMES_MAX)
			break;
		walk->record.pcs[index] = ip;
		walk->record.count = index + 1;
		hash = mix(hash, ip);
		end = UNWIND_END_ROOT;
		if (bp < walk->sp || bp & 7)
			break;
		end = UNWIND_END_UNREADABLE;
		if (!unwind_read_frame(walk, bp, &next, &ip))
			break;
		end = UNWIND_END_ROOT;
		ip = UNWIND_WITHOUT_SIGNATURE(ip);
		if (ip < UNWIND_PAGE_SIZE || ip >> UNWIND_ADDRESS_BITS)
			break;
		end = UNWIND_END_DEPTH;
		walk->sp = bp + 16;
		bp = next;
	}
	walk->ip = ip;
	walk->bp = bp;
	walk->hash = hash;
	walk->record.end = end;
	return turn < UNWIND_RUN_FRAMES_BY_BP;
}

#endif
