/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Telling code apart by its content: the code of evaluated text and of templates lives no longer than a call, and the next
 * one comes to stand where it stood. What was found out about code is remembered per thread, as long as nothing has ended
 * that stood at its address. A part of interp.bpf.h.
 */
#ifndef INTERP_CODE_BPF_H
#define INTERP_CODE_BPF_H

#define INTERP_PAGE_SIZE 4096

static __always_inline __u64 interp_mix(__u64 hash, __u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

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

#ifdef __bpf__
int interp_site_mix(__u32 kind, __u32 from, __u32 size);
#endif

static __always_inline void interp_mix_bytes(struct interp_walk *walk, __u32 kind, __u32 from,
					     __u32 size)
{
#ifdef __bpf__
	/* See setting_functions: the verifier would look at each call. */
	if (!setting_functions) {
		interp_site_mix(kind, from, size);
		return;
	}
#endif
	interp_mix_part(walk, kind, from, size);
}

/*
 * Copy a table of lines of `size` bytes at `address`, which stand in an object of its own `head` bytes after its start, as
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
					     __u64 key, bool watched)
{
	memo->key = watched && !walk->incomplete ? key : 0;
	memo->content = walk->content;
	memo->object = walk->object;
	memo->ends = walk->object_ends;
}

#endif
