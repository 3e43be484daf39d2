/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all ways of leaving a frame share. */
#ifndef UNWIND_FRAME_BPF_H
#define UNWIND_FRAME_BPF_H

#include "unwind_memory.bpf.h"
#include "unwind_state.bpf.h"

static __always_inline int unwind_end(struct unwind *walk, __u32 end)
{
	walk->record.end = end;
	return 1;
}

/* Keep the current frame. False if there are as many as were asked for. */
static __always_inline bool unwind_push(struct unwind *walk)
{
	__u64 at = walk->record.count;
	__u64 ip = walk->ip;

	if (at >= walk->depth || at >= STACK_FRAMES_MAX)
		return false;
	walk->record.count = at + 1;
	walk->hash = mix(walk->hash, ip);
	HIDE(at);
	if (at < STACK_FRAMES_MAX)
		walk->record.pcs[at] = ip;
	return true;
}

/* Have the frame pointer in `bp`. Returns 0, or 1 if the walk ends because it cannot be had. */
static __always_inline int unwind_load_bp(struct unwind *walk)
{
	__u64 bp;

	if (walk->bp_address == UNWIND_BP_HERE)
		return 0;
	if (walk->bp_address == UNWIND_BP_LOST)
		return unwind_end(walk, UNWIND_END_NO_BP);
	if (!unwind_read(walk, walk->bp_address, &bp))
		return unwind_end(walk, UNWIND_END_UNREADABLE);
	walk->bp = bp;
	walk->bp_address = UNWIND_BP_HERE;
	return 0;
}

/* Go on in the caller, whose stack begins at `cfa`. */
static __always_inline int unwind_leave(struct unwind *walk, __u64 cfa, __u64 ip)
{
	if (!ip) {
		walk->flags |= UNWIND_ZERO;
		return unwind_end(walk, UNWIND_END_ROOT);
	}
	walk->ip = ip;
	walk->sp = cfa;
	walk->flags &= ~(UNWIND_EXACT | UNWIND_SP_LOST | UNWIND_RETURNING);
	return 0;
}

/* Go on in what a signal has interrupted, which may be on another stack. */
static __always_inline int unwind_resume(struct unwind *walk, __u64 ip, __u64 sp, __u64 bp)
{
	walk->ip = ip;
	walk->sp = sp;
	walk->bp = bp;
	walk->bp_address = UNWIND_BP_HERE;
	walk->flags |= UNWIND_EXACT | UNWIND_SIGNAL;
	walk->window_start = 0;
	walk->window_bytes = 0;
	return 0;
}

#endif
