/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an instruction does: see effect.h. */
#include "probe/effect.h"

#if defined(__x86_64__)

#define WORD 8

static bool register_is_stack(unsigned int reg)
{
	return reg == X86_REG_RSP || reg == X86_REG_ESP || reg == X86_REG_SP || reg == X86_REG_SPL;
}

static bool register_is_result(unsigned int reg)
{
	return reg == X86_REG_RAX || reg == X86_REG_EAX || reg == X86_REG_AX || reg == X86_REG_AL ||
	       reg == X86_REG_AH;
}

/* Is the operand this register, in 32 or 64 bits? */
static bool operand_is(const cs_x86_op *operand, unsigned int wide, unsigned int narrow)
{
	return operand->type == X86_OP_REG && (operand->reg == wide || operand->reg == narrow);
}

/* How the stack grows by an instruction that changes the stack pointer. False if that is not certain. */
static bool stack_growth(const cs_insn *insn, int32_t *ret_growth)
{
	const cs_x86 *x86 = &insn->detail->x86;
	const cs_x86_op *to = &x86->operands[0], *by = &x86->operands[1];
	int64_t growth;

	if (insn->id == X86_INS_PUSH || insn->id == X86_INS_POP) {
		*ret_growth = insn->id == X86_INS_PUSH ? WORD : -WORD;
		return to->size == WORD && !(to->type == X86_OP_REG && register_is_stack(to->reg));
	}
	if (x86->op_count != 2 || !operand_is(to, X86_REG_RSP, X86_REG_RSP))
		return false;
	if ((insn->id == X86_INS_SUB || insn->id == X86_INS_ADD) && by->type == X86_OP_IMM)
		growth = insn->id == X86_INS_SUB ? by->imm : -by->imm;
	else if (insn->id == X86_INS_LEA && by->mem.base == X86_REG_RSP &&
		 by->mem.index == X86_REG_INVALID)
		growth = -by->mem.disp;
	else
		return false;
	*ret_growth = (int32_t)growth;
	return growth == *ret_growth;
}

/* The number that an instruction puts into the register of results. False if there is none. */
static bool result_number(const cs_insn *insn, uint32_t *ret_number)
{
	const cs_x86 *x86 = &insn->detail->x86;

	if (insn->id != X86_INS_MOV || x86->op_count != 2 || x86->operands[1].type != X86_OP_IMM ||
	    !operand_is(&x86->operands[0], X86_REG_RAX, X86_REG_EAX))
		return false;
	*ret_number = (uint32_t)x86->operands[1].imm;
	return true;
}

struct effect effect_of(const struct flow_decoder *decoder)
{
	const cs_insn *insn = decoder->insn;
	struct effect effect = { .stack_known = true };
	cs_regs reads, writes;
	uint8_t read_count, write_count, i;

	effect.is_system_call = insn->id == X86_INS_SYSCALL;
	effect.has_number = result_number(insn, &effect.number);
	/* A function that returns leaves the stack pointer as it was, and a result. */
	if (cs_insn_group(decoder->handle, insn, CS_GRP_CALL)) {
		effect.writes_result = true;
		return effect;
	}
	if (cs_regs_access(decoder->handle, insn, reads, &read_count, writes, &write_count))
		return (struct effect){ .writes_result = true };
	for (i = 0; i < write_count; i++) {
		if (register_is_stack(writes[i]))
			effect.stack_known = stack_growth(insn, &effect.stack);
		effect.writes_result = effect.writes_result || register_is_result(writes[i]);
	}
	effect.writes_result = effect.writes_result || effect.has_number || effect.is_system_call;
	return effect;
}

#else

struct effect effect_of(const struct flow_decoder *decoder)
{
	(void)decoder;
	return (struct effect){ .writes_result = true };
}

#endif
