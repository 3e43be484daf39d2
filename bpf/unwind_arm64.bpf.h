/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Leaving a frame of arm64: the return address is in lr until the function saves it, mostly at the lower end of its frame,
 * behind the frame pointer.
 */
#ifndef UNWIND_ARM64_BPF_H
#define UNWIND_ARM64_BPF_H

#include "unwind_frame.bpf.h"
#include "unwind_kernel.bpf.h"
#include "unwind_rules.bpf.h"

/* Offsets from the stack pointer of a signal frame to the registers in the kernel's ucontext. */
#define UNWIND_SIGNAL_BP 544
#define UNWIND_SIGNAL_LR 552
#define UNWIND_SIGNAL_SP 560
#define UNWIND_SIGNAL_IP 568

/* The instructions that a signal handler returns to: mov x8, #139 (rt_sigreturn); svc #0. */
#define UNWIND_SIGNAL_CODE 0xd4000001d2801168ULL

/* Length of the code that a return probe returns to. */
#define UNWIND_TRAMPOLINE_BYTES 4

/* What a return instruction takes from the stack. */
#define UNWIND_RETURN_BYTES 0

/* A frame pointer points at the lower end of its frame: where the frame ends is not known. */
#define UNWIND_LOST_BY_GUESS UNWIND_SP_LOST

/* Leave a signal frame. */
static __always_inline int unwind_leave_signal(struct unwind *walk)
{
	__u64 context = walk->sp, ip, sp, bp, lr;

	if (!unwind_read(walk, context + UNWIND_SIGNAL_BP, &bp) ||
	    !unwind_read(walk, context + UNWIND_SIGNAL_LR, &lr) ||
	    !unwind_read(walk, context + UNWIND_SIGNAL_SP, &sp) ||
	    !unwind_read(walk, context + UNWIND_SIGNAL_IP, &ip))
		return unwind_end(walk, UNWIND_END_UNREADABLE);
	walk->lr = lr;
	return unwind_resume(walk, ip, sp, bp);
}

/* Is the walk where signal handlers return to? The kernel's code for that has no rows. */
static __always_inline bool unwind_is_signal_frame(struct unwind *walk)
{
	__u64 code;

	if (walk->flags & (UNWIND_EXACT | UNWIND_SP_LOST))
		return false;
	return unwind_copy(&code, sizeof(code), walk->ip) && code == UNWIND_SIGNAL_CODE;
}

/*
 * Leave code without rows in which the thread runs, such as a stub of the linker's, by lr, if that leads to code with rows:
 * code that has called something has lr point at itself. False: it does not.
 */
static __always_inline bool unwind_leave_by_lr(struct unwind *walk)
{
	__u64 ip = UNWIND_WITHOUT_SIGNATURE(walk->lr);
	__u32 found;

	if (!(walk->flags & UNWIND_EXACT) || !ip)
		return false;
	found = unwind_find_now(walk, ip - 1);
	if (found >= UNWIND_FOUND_NOTHING || UNWIND_RULE_CFA(walk->rule) == UNWIND_CFA_END)
		return false;
	walk->flags |= UNWIND_GUESSED;
	return !unwind_leave(walk, walk->sp, ip);
}

/* Where a pair is saved, in the frame that begins at `cfa`, which is counted from `base`. */
static __always_inline __u64 unwind_pair_at(__u32 rule, __u64 base, __u64 cfa)
{
	/* Unsigned on purpose: extending the sign would take an arithmetic shift. */
	__u64 offset = (((__u64)(rule >> 22) ^ 512) - 512) * 8;

	return offset >> 63 ? cfa + offset : base + offset;
}

/* The stack pointer after a guess: the frame pointer must point at what this frame has saved. */
static __always_inline int unwind_regain_sp(struct unwind *walk, __u32 rule)
{
	if (UNWIND_RULE_BP(rule) != UNWIND_PAIR_BOTH)
		return unwind_end(walk, UNWIND_END_NO_ROWS);
	if (unwind_load_bp(walk))
		return 1;
	walk->sp = walk->bp - unwind_pair_at(rule, 0, UNWIND_RULE_CFA_OFFSET(rule) * 8);
	walk->flags &= ~UNWIND_SP_LOST;
	return 0;
}

/* What the beginning of the frame is counted from. Returns 1 if the walk ends. */
static __always_inline int unwind_base(struct unwind *walk, __u32 rule, __u64 *ret_base)
{
	switch (UNWIND_RULE_CFA(rule)) {
	case UNWIND_CFA_SP:
		if (walk->flags & UNWIND_SP_LOST && unwind_regain_sp(walk, rule))
			return 1;
		*ret_base = walk->sp;
		return 0;
	case UNWIND_CFA_BP:
		if (unwind_load_bp(walk))
			return 1;
		*ret_base = walk->bp;
		return 0;
	case UNWIND_CFA_ROOT:
		return unwind_end(walk, UNWIND_END_ROOT);
	default:
		return unwind_end(walk, UNWIND_END_UNSUPPORTED);
	}
}

/* Apply a rule's part for bp, if bp is saved, or lost. */
static __always_inline void unwind_follow_pair(struct unwind *walk, __u32 rule, __u64 at)
{
	if (UNWIND_RULE_BP(rule) == UNWIND_PAIR_LR)
		return;
	/* Such a small address is none, and must not be taken for one of the marks. */
	if (UNWIND_RULE_BP(rule) == UNWIND_PAIR_LR_ONLY || at < UNWIND_PAGE_SIZE)
		at = UNWIND_BP_LOST;
	walk->bp_address = at;
}

/* Leave a frame by its row. */
static __always_inline int unwind_leave_by_rule(struct unwind *walk, __u32 rule, __u64 pc)
{
	__u64 base = 0, cfa, at, ip = walk->lr;
	bool saved = UNWIND_RULE_BP(rule) != UNWIND_PAIR_NONE;

	(void)pc;
	if (unwind_base(walk, rule, &base))
		return 1;
	cfa = base + (__u64)UNWIND_RULE_CFA_OFFSET(rule) * 8;
	/* Only where the thread runs may the return address be in lr, and a frame be empty. */
	if (cfa < walk->sp || cfa & 7 || (!saved && !(walk->flags & UNWIND_EXACT)) ||
	    (saved && cfa == walk->sp))
		return unwind_end(walk, UNWIND_END_BROKEN);
	at = unwind_pair_at(rule, base, cfa);
	if (saved) {
		if (!unwind_read(walk, at + (UNWIND_RULE_BP(rule) == UNWIND_PAIR_BOTH) * 8, &ip))
			return unwind_end(walk, UNWIND_END_UNREADABLE);
		unwind_follow_pair(walk, rule, at);
	}
	return unwind_leave(walk, cfa, UNWIND_WITHOUT_SIGNATURE(ip));
}

/* A signal came while the thread was at the instruction that a return probe returns to. */
static __always_inline int unwind_leave_trampoline(struct unwind *walk, __u64 at)
{
	__u64 ip = unwind_original(walk->sp);

	(void)at;
	if (!ip)
		return unwind_end(walk, UNWIND_END_UNREADABLE);
	return unwind_leave(walk, walk->sp, ip);
}

/* Leave a frame by its rule. False if that takes more than the window; then nothing has changed. */
static __always_inline bool unwind_hop(const struct unwind *walk, __u32 rule,
				       struct unwind_spot *spot)
{
	__u64 base = spot->sp, cfa, at, ip = 0, bp = spot->bp, bp_address = spot->bp_address;
	bool both = UNWIND_RULE_BP(rule) == UNWIND_PAIR_BOTH;

	if (!both && UNWIND_RULE_BP(rule) != UNWIND_PAIR_LR)
		return false;
	if (UNWIND_RULE_CFA(rule) == UNWIND_CFA_BP) {
		if (bp_address != UNWIND_BP_HERE && !unwind_peek(walk, bp_address, &bp))
			return false;
		bp_address = UNWIND_BP_HERE;
		base = bp;
	} else if (UNWIND_RULE_CFA(rule) != UNWIND_CFA_SP) {
		return false;
	}
	cfa = base + (__u64)UNWIND_RULE_CFA_OFFSET(rule) * 8;
	at = unwind_pair_at(rule, base, cfa);
	if (both)
		bp_address = at;
	if (cfa <= spot->sp || cfa & 7 || !unwind_peek(walk, at + both * 8, &ip) ||
	    (bp_address && bp_address < UNWIND_PAGE_SIZE))
		return false;
	ip = UNWIND_WITHOUT_SIGNATURE(ip);
	if (!ip)
		return false;
	*spot = (struct unwind_spot){ .ip = ip, .sp = cfa, .bp = bp, .bp_address = bp_address };
	return true;
}

#endif
