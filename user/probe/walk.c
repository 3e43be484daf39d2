/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The straight way from a function's entry: code_walk of code.h. It passes only instructions of a short list, so that
 * it need not trust the disassembler in what the rarer ones do.
 */
#include <string.h>

#include "probe/code.h"

/* How far from the entry a site may be. */
#define WALK_BYTES 64
#define WALK_INSTRUCTIONS 16

/* The argument position of a register or of a part of one; 0 = it holds no argument. */
static unsigned int register_position(unsigned int reg)
{
	switch (reg) {
	case X86_REG_RDI:
	case X86_REG_EDI:
	case X86_REG_DI:
	case X86_REG_DIL:
		return 1;
	case X86_REG_RSI:
	case X86_REG_ESI:
	case X86_REG_SI:
	case X86_REG_SIL:
		return 2;
	case X86_REG_RDX:
	case X86_REG_EDX:
	case X86_REG_DX:
	case X86_REG_DL:
	case X86_REG_DH:
		return 3;
	case X86_REG_RCX:
	case X86_REG_ECX:
	case X86_REG_CX:
	case X86_REG_CL:
	case X86_REG_CH:
		return 4;
	case X86_REG_R8:
	case X86_REG_R8D:
	case X86_REG_R8W:
	case X86_REG_R8B:
		return 5;
	case X86_REG_R9:
	case X86_REG_R9D:
	case X86_REG_R9W:
	case X86_REG_R9B:
		return 6;
	}
	return 0;
}

static bool register_is_special(unsigned int reg)
{
	switch (reg) {
	case X86_REG_CS:
	case X86_REG_DS:
	case X86_REG_ES:
	case X86_REG_FS:
	case X86_REG_GS:
	case X86_REG_SS:
		return true;
	}
	return (reg >= X86_REG_CR0 && reg <= X86_REG_CR15) ||
	       (reg >= X86_REG_DR0 && reg <= X86_REG_DR15);
}

/* How an instruction of the list treats its first operand. */
enum passing { PASS_NOT, PASS_READS, PASS_WRITES };

static enum passing instruction_passing(unsigned int id)
{
	switch (id) {
	case X86_INS_CMP:
	case X86_INS_TEST:
	case X86_INS_NOP:
	case X86_INS_ENDBR64:
		return PASS_READS;
	case X86_INS_MOV:
	case X86_INS_MOVABS:
	case X86_INS_MOVZX:
	case X86_INS_MOVSX:
	case X86_INS_MOVSXD:
	case X86_INS_LEA:
	case X86_INS_ADD:
	case X86_INS_SUB:
	case X86_INS_AND:
	case X86_INS_OR:
	case X86_INS_XOR:
	case X86_INS_NEG:
	case X86_INS_NOT:
	case X86_INS_INC:
	case X86_INS_DEC:
	case X86_INS_SHL:
	case X86_INS_SHR:
	case X86_INS_SAR:
		return PASS_WRITES;
	}
	return PASS_NOT;
}

static bool walk_may_write(const struct code *code, unsigned int reg)
{
	unsigned int position = register_position(reg);

	return !(position && code->needs->arguments & 1u << position) &&
	       !code_is_stack_pointer(reg);
}

static bool walk_writes_are_safe(struct code *code, enum passing passing)
{
	const cs_x86_op *operand = code_operand(code, 0);
	cs_regs reads, writes;
	uint8_t read_count, write_count, i;

	if (passing == PASS_WRITES && operand->type == X86_OP_REG &&
	    !walk_may_write(code, operand->reg))
		return false;
	/* A store relative to the stack pointer could hit the return address. */
	if (passing == PASS_WRITES && operand->type == X86_OP_MEM &&
	    (code_is_stack_pointer(operand->mem.base) || code_is_stack_pointer(operand->mem.index)))
		return false;
	if (cs_regs_access(code->handle, code->insn, reads, &read_count, writes, &write_count))
		return false;
	for (i = 0; i < write_count; i++)
		if (!walk_may_write(code, writes[i]))
			return false;
	return true;
}

/*
 * Prefixes as compilers write them: a segment and an operand size at most, then REX. What a lock or rep prefix, or
 * a second one of a kind, makes of an instruction is not worth knowing.
 */
static bool walk_is_plain(const cs_insn *insn)
{
	const uint8_t *byte = insn->bytes;

	if (insn->id == X86_INS_ENDBR64)
		return true;
	if (*byte == 0x64 || *byte == 0x65)
		byte++;
	if (*byte == 0x66)
		byte++;
	if ((*byte & 0xf0) == 0x40)
		byte++;
	return (*byte & 0xf0) != 0x40 &&
	       !memchr("\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3", *byte, 11);
}

/* Is it `sub $n,%rsp` by a multiple of eight? Then the stack grows by `*ret_bytes`. */
static bool walk_grows_stack(const struct code *code, uint32_t *ret_bytes)
{
	const cs_x86_op *to = code_operand(code, 0), *by = code_operand(code, 1);

	if (code->needs->stack_pointer || code->insn->id != X86_INS_SUB ||
	    !walk_is_plain(code->insn) || !to || !by || to->type != X86_OP_REG ||
	    to->reg != X86_REG_RSP || by->type != X86_OP_IMM || by->imm <= 0 ||
	    by->imm > CHOICE_STACK_MAX || by->imm % 8)
		return false;
	*ret_bytes = (uint32_t)by->imm;
	return true;
}

/* May the walk go on behind the decoded instruction? */
static bool walk_may_pass(struct code *code)
{
	const cs_x86 *x86 = &code->insn->detail->x86;
	enum passing passing = instruction_passing(code->insn->id);
	uint8_t i;

	if (passing == PASS_NOT || (passing == PASS_WRITES && x86->op_count == 0)) {
		code->refusal = "no cheaper instruction on the straight way from it";
		return false;
	}
	for (i = 0; i < x86->op_count; i++)
		if (x86->operands[i].type == X86_OP_REG &&
		    register_is_special(x86->operands[i].reg)) {
			code->refusal = "a special register is used before a cheaper one";
			return false;
		}
	if (!walk_is_plain(code->insn)) {
		code->refusal = "an unusual prefix before a cheaper one";
		return false;
	}
	if (!walk_writes_are_safe(code, passing)) {
		code->refusal = "an argument or the stack pointer changes before a cheaper one";
		return false;
	}
	return true;
}

static bool walk_is_site(const struct code *code, size_t offset)
{
	const cs_insn *insn = code->insn;
	uint8_t first = insn->bytes[0];

	/*
	 * Inside a function only what all decoders read alike: no nops, which kernels may turn into calls that write
	 * below the stack pointer, and no prefix but the REX of a push.
	 */
	if (insn->id == X86_INS_NOP || insn->id == X86_INS_PAUSE || insn->id == X86_INS_XCHG)
		return false;
	if (memchr("\x64\x65\x66\x67\xf2\xf3", first, 6) ||
	    ((first & 0xf0) == 0x40 && !(first == 0x41 && insn->size == 2)))
		return false;
	return trap_cost(code->bytes + offset, insn->size, 0, &code->needs->features) ==
	       COST_EMULATED;
}

size_t code_walk(struct code *code, uint32_t *ret_stack_bytes)
{
	uint32_t stack_bytes = 0, grown;
	size_t offset = 0;
	int steps;

	for (steps = 0; steps < WALK_INSTRUCTIONS && offset < WALK_BYTES; steps++) {
		if (offset >= code->size || !code_decode(code, offset)) {
			code->refusal = "it ends, or does not decode, before a cheaper one";
			return 0;
		}
		if (offset && walk_is_site(code, offset)) {
			*ret_stack_bytes = stack_bytes;
			return offset;
		}
		if (walk_grows_stack(code, &grown) && stack_bytes + grown <= CHOICE_STACK_MAX)
			stack_bytes += grown;
		else if (!walk_may_pass(code))
			return 0;
		offset += code->insn->size;
	}
	code->refusal = "no cheaper instruction near it";
	return 0;
}
