/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies of what names a frame's code, and the hash of their content. */
#ifndef INTERP_PART_BPF_H
#define INTERP_PART_BPF_H

#include "interp_state.bpf.h"

/* Copy the start of an object as a part of what names a frame, at least as far as its page reaches. */
static __always_inline void interp_copy(struct interp_walk *walk, enum interp_part_kind kind,
					__u64 address)
{
	__u64 rest = INTERP_PAGE_SIZE - (address & (INTERP_PAGE_SIZE - 1));
	struct interp_part *part = &walk->code.parts[kind];

	part->address = address;
	part->size = 0;
	if (!address)
		return;
	INTERP_HIDE(rest);
	if (interp_read(part->bytes, INTERP_PART_BYTES, address))
		part->size = INTERP_PART_BYTES;
	else if (rest < INTERP_PART_BYTES && interp_read(part->bytes, (__u32)rest, address))
		part->size = (__u32)rest;
}

/* Drop the copies of other code. */
static __always_inline void interp_forget_parts(struct interp_walk *walk)
{
	__u32 i;

	for (i = 0; i < INTERP_PARTS; i++)
		walk->code.parts[i].size = 0;
}

/* A word of a part, by its offset in bytes. */
static __always_inline __u64 interp_copied(const struct interp_walk *walk,
					   enum interp_part_kind kind, __u32 offset)
{
	__u64 word = offset >> 3;

	INTERP_HIDE(word);
	if (word >= INTERP_PART_BYTES / 8 || walk->code.parts[kind].size < word * 8 + 8)
		return 0;
	return ((const __u64 *)walk->code.parts[kind].bytes)[word];
}

/* Make some bytes of a part count as content. `from` is a multiple of 8. */
int interp_mix_part(struct interp_walk *walk, __u32 kind, __u32 from, __u32 size);

static __always_inline int interp_mix_here(struct interp_walk *walk, __u32 kind, __u32 from,
					   __u32 size)
{
	const struct interp_part *part;
	__u64 mixed, at = from >> 3;
	const __u64 *words;
	__u32 i, end;

	if (kind >= INTERP_PARTS || from > INTERP_PART_BYTES)
		return 0;
	part = &walk->code.parts[kind];
	end = size > INTERP_PART_BYTES - from ? INTERP_PART_BYTES : from + size;
	if (part->size < end) {
		walk->incomplete = 1;
		end = part->size;
	}
	words = (const __u64 *)part->bytes;
	mixed = interp_mix(walk->content, size);
	for (i = 0; i < INTERP_PART_BYTES / 8; i++) {
		INTERP_HIDE(at);
		if (at >= INTERP_PART_BYTES / 8 || at * 8 + 8 > end)
			break;
		mixed = interp_mix(mixed, words[at++]);
	}
	/* The last word counts up to the end; one branch in the loop less for the verifier. */
	INTERP_HIDE(at);
	if (at < INTERP_PART_BYTES / 8 && at * 8 < end)
		mixed = interp_mix(mixed, words[at] & ((1ULL << ((end - at * 8) & 7) * 8) - 1));
	walk->content = mixed;
	return 0;
}

__noinline int interp_mix_part(struct interp_walk *walk, __u32 kind, __u32 from, __u32 size)
{
	return walk ? interp_mix_here(walk, kind, from, size) : 0;
}

#endif
