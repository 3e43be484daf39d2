/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Leaving a frame of x86-64: the return address is just below the CFA. */
#ifndef UNWIND_X86_BPF_H
#define UNWIND_X86_BPF_H

#include "unwind_frame.bpf.h"
#include "unwind_kernel.bpf.h"
#include "unwind_rules.bpf.h"

/* Offsets from the stack pointer of a signal frame to the registers in the kernel's ucontext. */
#define UNWIND_SIGNAL_BP 120
#define UNWIND_SIGNAL_SP 160
#define UNWIND_SIGNAL_IP 168

/* Length of the code that a return probe returns to. */
#define UNWIND_TRAMPOLINE_BYTES 17

/* What a return instruction takes from the stack: below the caller's part of it is what a return probe replaces. */
#define UNWIND_RETURN_BYTES 8

/* A frame pointer points at the upper end of its frame. */
#define UNWIND_LOST_BY_GUESS 0

/* Leave a signal frame. */
static __always_inline int unwind_leave_signal(struct unwind *walk)
{
	__u64 context = walk->sp, ip, sp, bp;

	if (!unwind_read(walk, context + UNWIND_SIGNAL_BP, &bp) ||
	    !unwind_read(walk, context + UNWIND_SIGNAL_SP, &sp) ||
	    !unwind_read(walk, context + UNWIND_SIGNAL_IP, &ip))
		return unwind_end(walk, UNWIND_END_UNREADABLE);
	return unwind_resume(walk, ip, sp, bp);
}

/* The code that signal handlers return to has rows. */
static __always_inline bool unwind_is_signal_frame(struct unwind *walk)
{
	(void)walk;
	return false;
}

/* The return address is in no register. */
static __always_inline bool unwind_leave_by_lr(struct unwind *walk)
{
	(void)walk;
	return false;
}

/* Apply a rule's part for bp in the frame that begins at `cfa`. Returns 1 if the walk ends. */
static __always_inline int unwind_follow_bp(struct unwind *walk, __u32 rule, __u64 cfa)
{
	/* Unsigned on purpose: extending the sign would take an arithmetic shift. */
	__u64 offset = (((__u64)(rule >> 22) ^ 512) - 512) * 8;

	switch (UNWIND_RULE_BP(rule)) {
	case UNWIND_BP_AT_CFA:
		walk->bp_address = cfa + offset;
		break;
	case UNWIND_BP_AT_BP:
		if (unwind_load_bp(walk))
			return 1;
		walk->bp_address = walk->bp + offset;
		break;
	case UNWIND_BP_UNKNOWN:
		walk->bp_address = UNWIND_BP_LOST;
		break;
	default:
		return 0;
	}
	/* Such a small address is none, and must not be taken for one of the marks. */
	if (walk->bp_address < UNWIND_PAGE_SIZE)
		walk->bp_address = UNWIND_BP_LOST;
	return 0;
}

/* Where the frame begins. Returns 1 if the walk ends. */
static __always_inline int unwind_frame(struct unwind *walk, __u32 rule, __u64 pc, __u64 *ret_cfa)
{
	__u64 offset = UNWIND_RULE_CFA_OFFSET(rule);

	switch (UNWIND_RULE_CFA(rule)) {
	case UNWIND_CFA_SP:
		*ret_cfa = walk->sp + offset * 8;
		return 0;
	case UNWIND_CFA_PLT:
		*ret_cfa = walk->sp + ((pc & 15) >= offset ? 16 : 8);
		return 0;
	case UNWIND_CFA_BP:
		if (unwind_load_bp(walk))
			return 1;
		*ret_cfa = walk->bp + offset * 8;
		return 0;
	case UNWIND_CFA_BP_DEREF:
		if (unwind_load_bp(walk))
			return 1;
		if (unwind_read(walk, walk->bp - offset * 8, ret_cfa))
			return 0;
		return unwind_end(walk, UNWIND_END_UNREADABLE);
	case UNWIND_CFA_ROOT:
		return unwind_end(walk, UNWIND_END_ROOT);
	default:
		return unwind_end(walk, UNWIND_END_UNSUPPORTED);
	}
}

/* Leave a frame by its row. */
static __always_inline int unwind_leave_by_rule(struct unwind *walk, __u32 rule, __u64 pc)
{
	__u64 cfa = 0, ip = 0;

	if (unwind_frame(walk, rule, pc, &cfa))
		return 1;
	if (cfa <= walk->sp || cfa & 7)
		return unwind_end(walk, UNWIND_END_BROKEN);
	if (!unwind_read(walk, cfa - 8, &ip))
		return unwind_end(walk, UNWIND_END_UNREADABLE);
	if (unwind_follow_bp(walk, rule, cfa))
		return 1;
	return unwind_leave(walk, cfa, ip);
}

/*
 * A signal came while the thread was in the code that a return probe returns to, `at` bytes behind its start. Linux
 * 6.11 and later push rax, rcx and r11 there, call the kernel, and pop the last two, to return by what the kernel has
 * put in the place of the first (arch/x86/kernel/uprobes.c); earlier ones stop at its first byte.
 */
static __always_inline int unwind_leave_trampoline(struct unwind *walk, __u64 at)
{
	__u64 slot = walk->sp + 16, ip;

	if (at == 0)
		slot = walk->sp - 8;
	else if (at == 1 || at == 16)
		slot = walk->sp;
	else if (at == 2 || at == 15)
		slot = walk->sp + 8;
	ip = unwind_original(slot);
	if (!ip && !unwind_read(walk, slot, &ip))
		return unwind_end(walk, UNWIND_END_UNREADABLE);
	if (unwind_leave(walk, slot + 8, ip))
		return 1;
	walk->flags |= UNWIND_RETURNING;
	return 0;
}

/* Leave a frame by its rule. False if that takes more than the window; then nothing has changed. */
static __always_inline bool unwind_hop(const struct unwind *walk, __u32 rule,
				       struct unwind_spot *spot)
{
	__u64 offset = (((__u64)(rule >> 22) ^ 512) - 512) * 8; /* as in unwind_follow_bp */
	__u64 cfa = spot->sp, ip = 0, bp = spot->bp, bp_address = spot->bp_address;

	if (UNWIND_RULE_CFA(rule) == UNWIND_CFA_BP) {
		if (bp_address != UNWIND_BP_HERE && !unwind_peek(walk, bp_address, &bp))
			return false;
		bp_address = UNWIND_BP_HERE;
		cfa = bp;
	} else if (UNWIND_RULE_CFA(rule) != UNWIND_CFA_SP) {
		return false;
	}
	cfa += (__u64)UNWIND_RULE_CFA_OFFSET(rule) * 8;
	if (UNWIND_RULE_BP(rule) == UNWIND_BP_AT_CFA)
		bp_address = cfa + offset;
	else if (UNWIND_RULE_BP(rule) != UNWIND_BP_SAME)
		return false;
	if (cfa <= spot->sp || !unwind_peek(walk, cfa - 8, &ip) || !ip ||
	    (bp_address && bp_address < UNWIND_PAGE_SIZE))
		return false;
	*spot = (struct unwind_spot){ .ip = ip, .sp = cfa, .bp = bp, .bp_address = bp_address };
	return true;
}

#endif
