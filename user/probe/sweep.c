/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sweep over a whole function for whatever could run into its beginning: code_is_alone of code.h. */
#include <stdlib.h>

#include "base/memory.h"
#include "probe/code.h"

/* The state of the sweep: a bit per byte of the function. */
struct sweep {
	struct code *code;
	uint8_t *starts; /* instructions begin here */
	uint8_t *targets; /* jumps of the function go here */
	uint8_t *exits; /* indirect jumps that are tail calls, if nothing jumps right to them */
	size_t site;
	bool torn_down; /* the instruction before gave up the stack frame */
	bool leaves;
};

static void bit_set(uint8_t *bits, size_t index)
{
	bits[index / 8] |= (uint8_t)(1u << index % 8);
}

static bool sweep_refuse(struct sweep *sweep, const char *refusal)
{
	sweep->code->refusal = refusal;
	return false;
}

static bool sweep_is_jump(const struct sweep *sweep)
{
	switch (sweep->code->insn->id) {
	case X86_INS_LOOP:
	case X86_INS_LOOPE:
	case X86_INS_LOOPNE:
	case X86_INS_JCXZ:
	case X86_INS_JECXZ:
	case X86_INS_JRCXZ:
	case X86_INS_XBEGIN:
		return true;
	}
	return cs_insn_group(sweep->code->handle, sweep->code->insn, X86_GRP_JUMP);
}

/* Does the instruction give up the stack frame, as an epilogue does? */
static bool sweep_tears_down(const struct sweep *sweep)
{
	const cs_x86_op *operand = code_operand(sweep->code, 0);

	switch (sweep->code->insn->id) {
	case X86_INS_POP:
	case X86_INS_LEAVE:
		return true;
	case X86_INS_ADD:
		return operand && operand->type == X86_OP_REG && operand->reg == X86_REG_RSP;
	}
	return false;
}

/* Is an offset from the entry harmless as a target: not the site, nor on the way to it? */
static bool sweep_is_apart(const struct sweep *sweep, uint64_t target)
{
	return target == 0 || target > sweep->site;
}

/*
 * An indirect jump may go anywhere, but not where the epilogue is right before it: a frame that was set up behind
 * the site is given up for a tail call. Were the site in a loop, the loop would hold the function's prologue, which
 * compilers do not do.
 */
static bool sweep_indirect(struct sweep *sweep, size_t offset)
{
	if (!sweep->torn_down)
		return sweep_refuse(sweep, "an indirect jump of the function may go anywhere");
	bit_set(sweep->exits, offset);
	return true;
}

static bool sweep_direct(struct sweep *sweep, uint64_t target, bool is_call)
{
	if (target >= sweep->code->size) {
		/* The parts of a split function are in different sections, too far for one byte. */
		if (sweep->code->insn->size < 5 && !is_call)
			return sweep_refuse(sweep, "a short jump leaves the function");
		sweep->leaves = sweep->leaves || !is_call;
		return true;
	}
	bit_set(sweep->targets, target);
	if (sweep_is_apart(sweep, target))
		return true;
	return sweep_refuse(sweep, "a jump of the function lands before a cheaper one");
}

/* Code addresses that are computed relative to the instruction pointer may be jumped to. */
static bool sweep_operands(struct sweep *sweep, size_t offset)
{
	const cs_x86_op *operand;
	unsigned int i;

	for (i = 0; (operand = code_operand(sweep->code, i)); i++)
		if (operand->type == X86_OP_MEM && operand->mem.base == X86_REG_RIP &&
		    !sweep_is_apart(sweep,
				    offset + sweep->code->insn->size + (uint64_t)operand->mem.disp))
			return sweep_refuse(sweep, "the function uses an address in its beginning");
	return true;
}

static bool sweep_step(struct sweep *sweep, size_t offset)
{
	const struct code *code = sweep->code;
	const cs_x86_op *operand = code_operand(code, 0);
	bool is_call = cs_insn_group(code->handle, code->insn, X86_GRP_CALL);

	bit_set(sweep->starts, offset);
	if (!sweep_operands(sweep, offset))
		return false;
	if (!is_call && !sweep_is_jump(sweep))
		return true;
	if (operand && operand->type == X86_OP_IMM)
		return sweep_direct(sweep, (uint64_t)operand->imm, is_call);
	return is_call || sweep_indirect(sweep, offset);
}

static bool sweep_all(struct sweep *sweep)
{
	struct code *code = sweep->code;
	size_t offset, i;

	for (offset = 0; offset < code->size; offset += code->insn->size) {
		if (!code_decode(code, offset))
			return sweep_refuse(sweep, "not all bytes of the function decode");
		if (!sweep_step(sweep, offset))
			return false;
		sweep->torn_down = sweep_tears_down(sweep);
	}
	for (i = 0; i < (code->size + 7) / 8; i++) {
		if (sweep->targets[i] & ~sweep->starts[i])
			return sweep_refuse(sweep,
					    "a jump of the function lands inside an instruction");
		if (sweep->targets[i] & sweep->exits[i])
			return sweep_refuse(sweep,
					    "an indirect jump of the function may go anywhere");
	}
	return true;
}

bool code_is_alone(struct code *code, size_t site, bool *ret_leaves)
{
	size_t bytes = code->size / 8 + 1;
	struct sweep sweep = {
		.code = code,
		.starts = memory_alloc(bytes, 1),
		.targets = memory_alloc(bytes, 1),
		.exits = memory_alloc(bytes, 1),
		.site = site,
	};
	bool alone = sweep_all(&sweep);

	if (alone)
		*ret_leaves = sweep.leaves;
	free(sweep.starts);
	free(sweep.targets);
	free(sweep.exits);
	return alone;
}
