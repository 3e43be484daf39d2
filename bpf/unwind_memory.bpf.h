/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a walk reads the stack: in windows, since one large copy costs as much as two small ones. */
#ifndef UNWIND_MEMORY_BPF_H
#define UNWIND_MEMORY_BPF_H

#include "unwind_state.bpf.h"

/* The first window is a multiple of this. */
#define UNWIND_WINDOW_GRAIN 256

static __always_inline bool unwind_copy(void *to, __u64 bytes, __u64 from)
{
	return !bpf_probe_read_user(to, (__u32)bytes, (void *)from);
}

/* How much of the stack to have in the first window: as much as the thread's last walk needed. */
static __always_inline __u64 unwind_first_bytes(const struct unwind *walk)
{
	__u64 bytes = (walk->extent + UNWIND_WINDOW_GRAIN - 1) & ~(UNWIND_WINDOW_GRAIN - 1ULL);

	HIDE(bytes);
	if (bytes > UNWIND_WINDOW_BYTES || bytes < UNWIND_WINDOW_GRAIN)
		return UNWIND_WINDOW_BYTES;
	return bytes;
}

/* Fill the window from `start`; near the end of the stack, only to the end of its page. */
static __always_inline bool unwind_fill(struct unwind *walk, __u64 start)
{
	__u32 rest = UNWIND_PAGE_SIZE - (__u32)(start & (UNWIND_PAGE_SIZE - 1));
	__u64 bytes = walk->window_start ? UNWIND_WINDOW_BYTES : unwind_first_bytes(walk);

	walk->window_start = start;
	walk->window_bytes = bytes;
	if (unwind_copy(walk->window, bytes, start))
		return true;
	walk->window_bytes = rest;
	if (unwind_copy(walk->window, rest, start))
		return true;
	walk->window_bytes = 0;
	return false;
}

/* The address at which a new window for `address` starts: a little below, but in the stack. */
static __always_inline __u64 unwind_window_for(const struct unwind *walk, __u64 address)
{
	__u64 start = address - UNWIND_WINDOW_LEAD;
	__u64 lowest = walk->sp & ~7ULL;

	if (address < lowest || address - lowest > UNWIND_WINDOW_LEAD)
		return address < lowest ? address : start;
	return lowest;
}

/* One word of the stack. Frames lie ever higher, so what is below the window is read alone. */
static __always_inline bool unwind_read(struct unwind *walk, __u64 address, __u64 *ret_word)
{
	__u64 offset = address - walk->window_start;

	if (offset >= walk->window_bytes) {
		if (address & 7 || address < walk->window_start)
			return unwind_copy(ret_word, sizeof(*ret_word), address);
		if (!unwind_fill(walk, unwind_window_for(walk, address)))
			return false;
		offset = address - walk->window_start;
		/* The window starts below and may have ended with its page. */
		if (offset >= walk->window_bytes)
			return unwind_copy(ret_word, sizeof(*ret_word), address);
	}
	if (offset & 7)
		return unwind_copy(ret_word, sizeof(*ret_word), address);
	offset >>= 3;
	HIDE(offset);
	*ret_word = walk->window[offset & (UNWIND_WINDOW_WORDS - 1)];
	return true;
}

/* A word of the window. False if it is not there. */
static __always_inline bool unwind_peek(const struct unwind *walk, __u64 address, __u64 *ret_word)
{
	__u64 word = address - walk->window_start;

	if (word >= walk->window_bytes || word & 7)
		return false;
	word >>= 3;
	HIDE(word);
	*ret_word = walk->window[word & (UNWIND_WINDOW_WORDS - 1)];
	return true;
}

#endif
