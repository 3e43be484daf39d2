/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Identifies code by its content: the code of evaluated text and of templates lives no longer than a call, and the next
 * one may be allocated at the same address. Findings about code are cached per thread until code at its address is
 * freed.
 */
#ifndef INTERP_CODE_BPF_H
#define INTERP_CODE_BPF_H

#include "interp_part.bpf.h"
#ifdef __bpf__
#include "interp_compat_mix.bpf.h"
#endif

/* Which addresses code was seen at, and how often one that shares a counter with others was given up. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct interp_ends);
} interp_ends SEC(".maps");

static __always_inline struct interp_ends *interp_ends_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&interp_ends, &zero);
}

static __always_inline __u32 interp_place(__u64 address)
{
	return (__u32)(address * 0x9e3779b97f4a7c15ULL >> 48);
}

/* From now on the end of what is at the address is counted. Returns the count up to now. */
static __always_inline __u32 interp_watch(__u64 address)
{
	struct interp_ends *ends = interp_ends_get();
	__u32 place = interp_place(address);

	if (!ends)
		return 0;
	ends->watched[place & (INTERP_PLACES - 1)] = 1;
	return ends->counts[place & (INTERP_COUNTS - 1)];
}

/* What was at the address ends, whatever it was. */
static __always_inline void interp_end_code(__u64 address)
{
	struct interp_ends *ends = interp_ends_get();
	__u32 place = interp_place(address);

	if (ends && ends->watched[place & (INTERP_PLACES - 1)])
		__sync_fetch_and_add(&ends->counts[place & (INTERP_COUNTS - 1)], 1);
}

/* Where what is known of code would be that frames find by this word. */
static __always_inline struct interp_memo *interp_memo(struct interp_walk *walk, __u64 word)
{
	__u64 slot = interp_place(word);

	INTERP_HIDE(slot);
	return &walk->memos[slot & (INTERP_MEMOS - 1)];
}

static __always_inline __u64 interp_memo_key(const struct interp_walk *walk, __u64 word)
{
	return word | (__u64)walk->process.generation << 48;
}

static __always_inline bool interp_memo_holds(const struct interp_memo *memo, __u64 key)
{
	struct interp_ends *ends = interp_ends_get();

	return memo->key == key && ends &&
	       ends->counts[interp_place(memo->object) & (INTERP_COUNTS - 1)] == memo->ends;
}

static __always_inline void interp_mix_bytes(struct interp_walk *walk, __u32 kind, __u32 from,
					     __u32 size)
{
#ifdef __bpf__
	if (interp_compat_mix_bytes(kind, from, size))
		return;
#endif
	interp_mix_part(walk, kind, from, size);
}

/*
 * Copy a table of lines of `size` bytes at `address`, which are in an object of its own `head` bytes after its start, as
 * far as there are parts for it; it counts as content.
 */
static __always_inline void interp_copy_lines(struct interp_walk *walk, __u64 address, __u32 head,
					      __u64 size)
{
	__u32 i, some = INTERP_PART_BYTES - head;

	walk->content = interp_mix(walk->content, size);
	interp_copy(walk, INTERP_PART_LINES, address);
	interp_mix_bytes(walk, INTERP_PART_LINES, head, size < some ? (__u32)size : some);
	for (i = INTERP_PART_LINES_MORE; i < INTERP_PARTS; i++) {
		size = size > some ? size - some : 0;
		some = INTERP_PART_BYTES;
		address += INTERP_PART_BYTES;
		interp_copy(walk, i, size ? address : 0);
		if (size)
			interp_mix_bytes(walk, i, 0, size < some ? (__u32)size : some);
	}
}

/* Begin with code whose first part is at `address`, and that ends where `object` does. */
static __always_inline void interp_content_begin(struct interp_walk *walk, __u64 object)
{
	walk->object = object;
	walk->object_ends = interp_watch(object);
	walk->incomplete = 0;
	walk->content = walk->process.seed;
}

/* Remember it, unless some of it could not be read, or its end would not be noticed. */
static __always_inline void interp_memo_fill(struct interp_walk *walk, struct interp_memo *memo,
					     __u64 key)
{
	memo->key = walk->process.memo && !walk->incomplete ? key : 0;
	memo->content = walk->content;
	memo->object = walk->object;
	memo->ends = walk->object_ends;
}

#endif
