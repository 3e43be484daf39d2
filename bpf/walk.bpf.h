/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walking a user stack by frame pointers. The stack is copied in windows of 4 KB, since one copy of a
 * window costs about as much as two reads of eight bytes. The pcs are hashed in the same pass.
 *
 * Taken at the return of a function: the instruction pointer is then in the caller and the frame
 * pointer is the caller's, so that no frame can be missed.
 */
#ifndef WALK_BPF_H
#define WALK_BPF_H

#include "tracer_abi.h"

#define WALK_WINDOW_WORDS 512
#define WALK_WINDOW_BYTES (WALK_WINDOW_WORDS * 8)
#define WALK_PAGE_SIZE 4096

/* State of one walk. It lives in map memory: it is far too large for the BPF stack. */
struct walk {
	__u64 frame; /* frame pointer of the frame to be left */
	__u64 window_start; /* user address of window[0] */
	__u64 window_bytes; /* valid bytes of the window */
	__u64 hash;
	struct stack_record record;
	__u64 window[WALK_WINDOW_WORDS];
};

/* Mix one pc into a hash: multiplication spreads to the upper bits, the shift brings them back. */
static __always_inline __u64 walk_mix(__u64 hash, __u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

/* Fill the window from `address`; near the end of the stack, only to the end of its page. */
static __always_inline bool walk_fill(struct walk *walk, __u64 address)
{
	__u64 rest = WALK_PAGE_SIZE - (address & (WALK_PAGE_SIZE - 1));

	walk->window_start = address;
	walk->window_bytes = WALK_WINDOW_BYTES;
	if (!bpf_probe_read_user(walk->window, WALK_WINDOW_BYTES, (void *)address))
		return true;
	walk->window_bytes = rest;
	if (rest <= WALK_WINDOW_BYTES && !bpf_probe_read_user(walk->window, rest, (void *)address))
		return true;
	walk->window_bytes = 0;
	return false;
}

static __always_inline void walk_push(struct walk *walk, __u64 pc)
{
	__u32 at = walk->record.count;

	if (at >= STACK_FRAMES_MAX)
		return;
	walk->record.pcs[at] = pc;
	walk->record.count = at + 1;
	walk->hash = walk_mix(walk->hash, pc);
}

/*
 * Leave one frame: push the return address found above the saved frame pointer. Returns 1 when the walk is over.
 * Callers' frames lie at higher addresses; a chain that does not climb is no chain any more.
 */
static __noinline int walk_step(struct walk *walk)
{
	__u64 frame = walk->frame;
	__u64 offset = frame - walk->window_start;
	__u64 next, pc;
	__u32 word;

	if (offset + 16 > walk->window_bytes || offset + 16 < 16) {
		if (!walk_fill(walk, frame) || walk->window_bytes < 16) {
			walk->record.end = STACK_END_UNREADABLE;
			return 1;
		}
		offset = 0;
	}
	word = (__u32)(offset / 8) & (WALK_WINDOW_WORDS - 1);
	next = walk->window[word];
	pc = walk->window[(word + 1) & (WALK_WINDOW_WORDS - 1)];
	if (pc < WALK_PAGE_SIZE || pc >> 47)
		return 1;
	walk_push(walk, pc);
	walk->frame = next;
	return next <= frame || next & 7;
}

/*
 * Walk from a point between two instructions: `ip` is the first frame; `sp` and `bp` are the stack and frame
 * pointers there. Leaves frames, count, end and hash (never 0) in `walk`.
 */
static __always_inline void walk_stack(struct walk *walk, __u64 ip, __u64 sp, __u64 bp, __u32 depth)
{
	__u32 i;

	walk->record.count = 0;
	walk->record.end = STACK_END_ROOT;
	walk->hash = 0;
	walk->frame = bp;
	walk->window_start = sp & ~7ULL;
	walk->window_bytes = 0;
	walk_push(walk, ip);
	if (bp >= sp && !(bp & 7)) {
		if (bp - walk->window_start < WALK_WINDOW_BYTES)
			walk_fill(walk, walk->window_start);
		for (i = 1; i < STACK_FRAMES_MAX; i++) {
			if (i >= depth) {
				walk->record.end = STACK_END_DEPTH;
				break;
			}
			if (walk_step(walk))
				break;
		}
	}
	walk->hash = walk->hash ? walk->hash : 1;
}

#endif
