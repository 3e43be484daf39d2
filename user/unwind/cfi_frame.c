/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a frame's description to the rule of a row: see cfi_frame.h. */
#include "unwind/cfi_frame.h"

#include <dwarf.h>

/* Offset of the saved sp in the kernel's ucontext, to which sp points in a signal frame. */
#define UCONTEXT_SP 160

static const struct cfi_registers cfi_x86_64 = { .bp = 6, .sp = 7, .ra = 16 };
static const struct cfi_registers cfi_arm64 = { .bp = 29, .sp = 31, .ra = 30 };

const struct cfi_registers *cfi_registers_of(uint64_t return_register)
{
	if (return_register == cfi_x86_64.ra)
		return &cfi_x86_64;
	return return_register == cfi_arm64.ra ? &cfi_arm64 : NULL;
}

/* The bytes of the one expression that linkers write for a PLT; the threshold replaces the dot. */
static bool cfi_match_plt(struct cursor expression, int64_t *ret_threshold)
{
	static const uint8_t before[] = { DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and };
	static const uint8_t after[] = { DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus };
	uint8_t literal;

	if (cursor_left(&expression) != sizeof(before) + 1 + sizeof(after) ||
	    memcmp(expression.at, before, sizeof(before)))
		return false;
	literal = expression.at[sizeof(before)];
	if (literal < DW_OP_lit0 || literal > DW_OP_lit15 ||
	    memcmp(expression.at + sizeof(before) + 1, after, sizeof(after)))
		return false;
	*ret_threshold = literal - DW_OP_lit0;
	return true;
}

struct cfi_cfa cfi_cfa_from_expression(struct cursor expression)
{
	struct cfi_cfa cfa = { .kind = CFI_CFA_OTHER };
	uint8_t operation;

	if (cfi_match_plt(expression, &cfa.offset)) {
		cfa.kind = CFI_CFA_PLT;
		return cfa;
	}
	operation = cursor_u8(&expression);
	if (operation < DW_OP_breg0 || operation > DW_OP_breg31)
		return cfa;
	cfa.number = operation - DW_OP_breg0;
	cfa.offset = cursor_sleb(&expression);
	if (!cursor_left(&expression) && !expression.bad)
		cfa.kind = CFI_CFA_REGISTER;
	else if (cursor_u8(&expression) == DW_OP_deref && !cursor_left(&expression) &&
		 !expression.bad)
		cfa.kind = CFI_CFA_DEREF;
	return cfa;
}

struct cfi_place cfi_place_from_expression(struct cursor expression,
					   const struct cfi_registers *registers)
{
	struct cfi_place place = { .kind = CFI_PLACE_OTHER };

	if (cursor_u8(&expression) != DW_OP_breg0 + registers->bp)
		return place;
	place.offset = cursor_sleb(&expression);
	if (!cursor_left(&expression) && !expression.bad)
		place.kind = CFI_PLACE_BP;
	return place;
}

static bool cfi_is_packable(int64_t offset, int64_t smallest, int64_t largest)
{
	return !(offset & 7) && offset / 8 >= smallest && offset / 8 <= largest;
}

/* An unknown bp does not end a walk: most frames further out never need it. */
static enum unwind_bp cfi_pack_bp(const struct cfi_place *bp, int64_t *ret_offset)
{
	*ret_offset = 0;
	if (bp->kind == CFI_PLACE_UNSPECIFIED || bp->kind == CFI_PLACE_SAME)
		return UNWIND_BP_SAME;
	if ((bp->kind != CFI_PLACE_CFA && bp->kind != CFI_PLACE_BP) ||
	    !cfi_is_packable(bp->offset, -UNWIND_BP_OFFSET_MAX - 1, UNWIND_BP_OFFSET_MAX))
		return UNWIND_BP_UNKNOWN;
	*ret_offset = bp->offset / 8;
	return bp->kind == CFI_PLACE_CFA ? UNWIND_BP_AT_CFA : UNWIND_BP_AT_BP;
}

static enum unwind_cfa cfi_pack_cfa(const struct cfi_cfa *cfa,
				    const struct cfi_registers *registers, int64_t *ret_offset)
{
	bool bp = cfa->number == registers->bp;
	int64_t offset = cfa->offset;

	*ret_offset = cfa->offset;
	if (cfa->kind == CFI_CFA_PLT)
		return UNWIND_CFA_PLT;
	if (cfa->kind == CFI_CFA_DEREF && bp)
		offset = offset > INT64_MIN ? -offset : offset;
	if (!cfi_is_packable(offset, 0, UNWIND_CFA_OFFSET_MAX))
		return UNWIND_CFA_UNSUPPORTED;
	*ret_offset = offset / 8;
	if (cfa->kind == CFI_CFA_DEREF && bp)
		return UNWIND_CFA_BP_DEREF;
	if (cfa->kind == CFI_CFA_REGISTER && bp)
		return UNWIND_CFA_BP;
	if (cfa->kind == CFI_CFA_REGISTER && cfa->number == registers->sp)
		return UNWIND_CFA_SP;
	return UNWIND_CFA_UNSUPPORTED;
}

static bool cfi_is_signal(const struct cfi_cfa *cfa)
{
	return cfa->kind == CFI_CFA_DEREF && cfa->number == cfi_x86_64.sp &&
	       cfa->offset == UCONTEXT_SP;
}

static __u32 cfi_rule_x86_64(const struct cfi_frame *frame, const struct cfi_cfa *cfa)
{
	int64_t cfa_offset, bp_offset;
	enum unwind_cfa kind = cfi_pack_cfa(cfa, &cfi_x86_64, &cfa_offset);
	enum unwind_bp bp;

	if (kind == UNWIND_CFA_UNSUPPORTED || frame->ra.kind != CFI_PLACE_CFA ||
	    frame->ra.offset != -8)
		return UNWIND_RULE(UNWIND_CFA_UNSUPPORTED, 0, 0, 0);
	bp = cfi_pack_bp(&frame->bp, &bp_offset);
	return UNWIND_RULE(kind, bp, cfa_offset, bp_offset);
}

static bool cfi_is_unsaved(const struct cfi_place *place)
{
	return place->kind == CFI_PLACE_UNSPECIFIED || place->kind == CFI_PLACE_SAME;
}

/* How the return address is saved, and the offset from the CFA. UNWIND_PAIR_NONE: nothing is. */
static enum unwind_pair cfi_pair(const struct cfi_frame *frame, int64_t *ret_offset)
{
	*ret_offset = frame->ra.offset;
	if (frame->ra.kind != CFI_PLACE_CFA)
		return UNWIND_PAIR_NONE;
	if (cfi_is_unsaved(&frame->bp))
		return UNWIND_PAIR_LR;
	if (frame->bp.kind != CFI_PLACE_CFA ||
	    (uint64_t)frame->bp.offset + 8 != (uint64_t)frame->ra.offset)
		return UNWIND_PAIR_LR_ONLY;
	*ret_offset = frame->bp.offset;
	return UNWIND_PAIR_BOTH;
}

/* Has the offset of a pair from the CFA become one that rules have? `cfa_offset`: of the CFA from its register, units. */
static bool cfi_pack_pair(int64_t cfa_offset, int64_t *offset)
{
	if (cfi_is_packable(*offset, -cfa_offset, UNWIND_BP_OFFSET_MAX - cfa_offset))
		*offset = *offset / 8 + cfa_offset;
	else if (cfi_is_packable(*offset, -UNWIND_BP_OFFSET_MAX - 1, -1))
		*offset /= 8;
	else
		return false;
	return true;
}

static __u32 cfi_rule_arm64(const struct cfi_frame *frame, const struct cfi_cfa *cfa)
{
	int64_t cfa_offset, offset = 0;
	enum unwind_cfa kind = cfi_pack_cfa(cfa, &cfi_arm64, &cfa_offset);
	enum unwind_pair pair = cfi_pair(frame, &offset);

	if (kind != UNWIND_CFA_SP && kind != UNWIND_CFA_BP)
		return UNWIND_RULE(UNWIND_CFA_UNSUPPORTED, 0, 0, 0);
	if (pair == UNWIND_PAIR_NONE && cfi_is_unsaved(&frame->ra) && cfi_is_unsaved(&frame->bp))
		return UNWIND_RULE(kind, pair, cfa_offset, 0);
	if (pair == UNWIND_PAIR_NONE || !cfi_pack_pair(cfa_offset, &offset))
		return UNWIND_RULE(UNWIND_CFA_UNSUPPORTED, 0, 0, 0);
	return UNWIND_RULE(kind, pair, cfa_offset, offset);
}

__u32 cfi_frame_rule(const struct cfi_frame *frame, const struct cfi_registers *registers,
		     bool signal)
{
	const struct cfi_cfa *cfa = frame->by_expression ? &frame->expression : &frame->cfa;

	if (frame->ra.kind == CFI_PLACE_UNDEFINED)
		return UNWIND_RULE(UNWIND_CFA_ROOT, 0, 0, 0);
	if (registers == &cfi_arm64)
		return cfi_rule_arm64(frame, cfa);
	if (signal && cfi_is_signal(cfa))
		return UNWIND_RULE(UNWIND_CFA_SIGNAL, 0, 0, 0);
	return cfi_rule_x86_64(frame, cfa);
}
