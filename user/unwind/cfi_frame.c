/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a frame's description to the rule of a row: see cfi_frame.h. */
#include "unwind/cfi_frame.h"

#include <dwarf.h>

/* Offset of the saved sp in the kernel's ucontext, to which sp points in a signal frame. */
#define UCONTEXT_SP 160

/* The bytes of the one expression that linkers write for a PLT; the threshold stands in for the dot. */
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

struct cfi_place cfi_place_from_expression(struct cursor expression)
{
	struct cfi_place place = { .kind = CFI_PLACE_OTHER };

	if (cursor_u8(&expression) != DW_OP_breg0 + CFI_REGISTER_BP)
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

/* A bp that cannot be told does not end a walk: most frames further out never ask for it. */
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

static enum unwind_cfa cfi_pack_cfa(const struct cfi_cfa *cfa, int64_t *ret_offset)
{
	bool bp = cfa->number == CFI_REGISTER_BP;
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
	if (cfa->kind == CFI_CFA_REGISTER && cfa->number == CFI_REGISTER_SP)
		return UNWIND_CFA_SP;
	return UNWIND_CFA_UNSUPPORTED;
}

static bool cfi_is_signal(const struct cfi_cfa *cfa)
{
	return cfa->kind == CFI_CFA_DEREF && cfa->number == CFI_REGISTER_SP &&
	       cfa->offset == UCONTEXT_SP;
}

__u32 cfi_frame_rule(const struct cfi_frame *frame, bool signal)
{
	const struct cfi_cfa *cfa = frame->by_expression ? &frame->expression : &frame->cfa;
	int64_t cfa_offset, bp_offset;
	enum unwind_cfa kind;
	enum unwind_bp bp;

	if (frame->ra.kind == CFI_PLACE_UNDEFINED)
		return UNWIND_RULE(UNWIND_CFA_ROOT, 0, 0, 0);
	if (signal && cfi_is_signal(cfa))
		return UNWIND_RULE(UNWIND_CFA_SIGNAL, 0, 0, 0);
	kind = cfi_pack_cfa(cfa, &cfa_offset);
	if (kind == UNWIND_CFA_UNSUPPORTED || frame->ra.kind != CFI_PLACE_CFA ||
	    frame->ra.offset != -8)
		return UNWIND_RULE(UNWIND_CFA_UNSUPPORTED, 0, 0, 0);
	bp = cfi_pack_bp(&frame->bp, &bp_offset);
	return UNWIND_RULE(kind, bp, cfa_offset, bp_offset);
}
