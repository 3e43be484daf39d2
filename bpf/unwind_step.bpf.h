/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Leaving one frame: by its row, or without one by its frame pointer. */
#ifndef UNWIND_STEP_BPF_H
#define UNWIND_STEP_BPF_H

#include "unwind_frame.bpf.h"
#include "unwind_kernel.bpf.h"
#include "unwind_rules.bpf.h"
#if defined(__TARGET_ARCH_arm64)
#include "unwind_arm64.bpf.h"
#else
#include "unwind_x86.bpf.h"
#endif

/* A global function: the verifier looks at it only once. */
int unwind_step(struct unwind *walk);

/* Leave a frame by its frame pointer, if everything about it looks like one. */
static __always_inline bool unwind_guess(struct unwind *walk, __u64 bp, __u64 *ret_next,
					 __u64 *ret_ip)
{
	if (bp < walk->sp || bp & 7 || bp - walk->sp > UNWIND_GUESS_MAX)
		return false;
	if (!unwind_read(walk, bp, ret_next) || !unwind_read(walk, bp + 8, ret_ip))
		return false;
	*ret_ip = UNWIND_WITHOUT_SIGNATURE(*ret_ip);
	return *ret_ip;
}

/*
 * Can a guess have led to `ip`, with `next` for the frame pointer there? It must be in a file or in code made at run time;
 * and where there are no rows either, `next` must be a frame pointer further out, or 0, which marks the outermost frame.
 */
static __always_inline bool unwind_is_plausible(struct unwind *walk, __u64 ip, __u64 bp, __u64 next)
{
	__u32 found = unwind_find_now(walk, ip - 1);

	if (found < UNWIND_FOUND_NOTHING && UNWIND_RULE_CFA(walk->rule) != UNWIND_CFA_END)
		return true;
	if (found >= UNWIND_FOUND_NOTHING && found != UNWIND_FOUND_NOTHING + UNWIND_END_ANONYMOUS)
		return false;
	return !next || next > bp;
}

/*
 * Is the walk at the first byte of a function, with a gap before it? No call leaves such a return address: it
 * was put there to start a fiber (makecontext does so), and nothing is further out.
 */
static __always_inline bool unwind_is_planted(struct unwind *walk)
{
	__u32 found;

	if (walk->flags & UNWIND_EXACT)
		return false;
	found = unwind_find_now(walk, walk->ip);
	return found < UNWIND_FOUND_NOTHING && UNWIND_RULE_CFA(walk->rule) != UNWIND_CFA_END;
}

/*
 * Code without rows. A frame pointer of 0 is how the ABI marks the outermost frame; the return address must lead
 * to a mapped file or to code generated at run time.
 */
static __always_inline int unwind_leave_unknown(struct unwind *walk)
{
	__u64 next = 0, ip = 0, bp;

	if (unwind_leave_by_lr(walk))
		return 0;
	if (unwind_is_planted(walk))
		return unwind_end(walk, UNWIND_END_ROOT);
	if (walk->bp_address == UNWIND_BP_LOST)
		return unwind_end(walk, UNWIND_END_NO_ROWS);
	if (unwind_load_bp(walk))
		return 1;
	bp = walk->bp;
	walk->flags |= UNWIND_GUESSED;
	if (!bp)
		return unwind_end(walk, UNWIND_END_ROOT);
	if (!unwind_guess(walk, bp, &next, &ip) || !unwind_is_plausible(walk, ip, bp, next))
		return unwind_end(walk, UNWIND_END_NO_ROWS);
	walk->bp = next;
	unwind_leave(walk, bp + 16, ip);
	walk->flags |= UNWIND_GUESSED_ON | UNWIND_LOST_BY_GUESS;
	return 0;
}

/*
 * The pc leads to no file. If a return probe has brought the walk here, go on where the probe will return to; otherwise
 * it is the last frame.
 */
static __always_inline int unwind_repair(struct unwind *walk, __u32 end)
{
	__u64 ip = 0, at, trampoline;

	if (walk->flags & UNWIND_EXACT) {
		trampoline = unwind_trampoline();
		at = UNWIND_WITHOUT_SIGNATURE(walk->ip) - trampoline;
		if (trampoline && at < UNWIND_TRAMPOLINE_BYTES)
			return unwind_leave_trampoline(walk, at);
	} else {
		ip = unwind_original(walk->sp - UNWIND_RETURN_BYTES);
	}
	if (ip && ip != walk->ip) {
		walk->ip = ip;
		return 0;
	}
	return unwind_end(walk, unwind_push(walk) ? end : UNWIND_END_DEPTH);
}

static __always_inline int unwind_leave_signal_frame(struct unwind *walk)
{
	if (walk->flags >= UNWIND_SIGNALS_MAX * UNWIND_SIGNALS)
		return unwind_end(walk, UNWIND_END_BROKEN);
	walk->flags += UNWIND_SIGNALS;
	return unwind_leave_signal(walk);
}

/* Keep the current frame and leave it. Returns 1 when the walk is over. */
static __always_inline int unwind_step_with(struct unwind *walk)
{
	__u64 pc = walk->ip - (walk->flags & UNWIND_EXACT ? 0 : 1);
	__u32 found, rule = 0;

	found = unwind_rule(walk, pc, &rule);
	if (found == UNWIND_RETRY)
		return 0;
	if (found >= UNWIND_FOUND_NOTHING)
		return unwind_repair(walk, found - UNWIND_FOUND_NOTHING);
	if (!unwind_push(walk))
		return unwind_end(walk, UNWIND_END_DEPTH);
	if (UNWIND_RULE_CFA(rule) == UNWIND_CFA_END)
		return unwind_is_signal_frame(walk) ? unwind_leave_signal_frame(walk)
						    : unwind_leave_unknown(walk);
	if (UNWIND_RULE_CFA(rule) == UNWIND_CFA_SIGNAL)
		return unwind_leave_signal_frame(walk);
	return unwind_leave_by_rule(walk, rule, pc);
}

__noinline int unwind_step(struct unwind *walk)
{
	return walk ? unwind_step_with(walk) : 1;
}

#endif
