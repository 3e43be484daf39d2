/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How one frame is left at one pc, from call frame instructions: the CFA, and where bp and the
 * return address are. Other registers are not followed: no row needs them.
 */
#ifndef UNWIND_CFI_FRAME_H
#define UNWIND_CFI_FRAME_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "unwind/cursor.h"
#include "unwind_abi.h"

/* DWARF's numbers of an architecture's registers. */
struct cfi_registers {
	uint64_t bp, sp, ra;
};

/*
 * The registers of the architecture whose return addresses are in this register: x86-64 or arm64. Each entry of a file
 * names the register. NULL: it is neither.
 */
const struct cfi_registers *cfi_registers_of(uint64_t return_register);

enum cfi_cfa_kind {
	CFI_CFA_NONE = 0, /* never defined */
	CFI_CFA_REGISTER, /* register + offset */
	CFI_CFA_PLT, /* the expression of a PLT; offset is its threshold */
	CFI_CFA_DEREF, /* the word at register + offset */
	CFI_CFA_OTHER, /* an expression that rows cannot express */
};

struct cfi_cfa {
	enum cfi_cfa_kind kind;
	uint64_t number; /* of the register */
	int64_t offset; /* bytes */
};

enum cfi_place_kind {
	CFI_PLACE_UNSPECIFIED = 0,
	CFI_PLACE_SAME,
	CFI_PLACE_UNDEFINED,
	CFI_PLACE_CFA, /* saved at CFA + offset */
	CFI_PLACE_BP, /* saved at bp + offset */
	CFI_PLACE_OTHER, /* known, but rows cannot express where */
};

struct cfi_place {
	enum cfi_place_kind kind;
	int64_t offset; /* bytes */
};

struct cfi_frame {
	struct cfi_cfa cfa; /* by register and offset */
	struct cfi_cfa expression; /* takes its place while by_expression */
	bool by_expression;
	struct cfi_place bp, ra;
};

/* The CFA that the expression of DW_CFA_def_cfa_expression computes. */
struct cfi_cfa cfi_cfa_from_expression(struct cursor expression);

/* The address that the expression of DW_CFA_expression computes: a register is saved there. */
struct cfi_place cfi_place_from_expression(struct cursor expression,
					   const struct cfi_registers *registers);

/* The rule of a row (unwind_abi.h). `signal`: the frame is one that the kernel made to deliver a signal. */
__u32 cfi_frame_rule(const struct cfi_frame *frame, const struct cfi_registers *registers,
		     bool signal);

#endif
