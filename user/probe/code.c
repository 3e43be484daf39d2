/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function under the disassembler: see code.h. */
#include "probe/code.h"

#include <errno.h>

int code_open(struct code *code, const uint8_t *bytes, size_t size,
	      const struct choice_needs *needs)
{
	csh handle;

	if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle))
		return -ENOSYS;
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	*code = (struct code){
		.handle = handle,
		.insn = cs_malloc(handle),
		.bytes = bytes,
		.size = size,
		.needs = needs,
	};
	if (code->insn)
		return 0;
	code_close(code);
	return -ENOMEM;
}

void code_close(struct code *code)
{
	if (code->insn)
		cs_free(code->insn, 1);
	cs_close(&code->handle);
}

bool code_decode(struct code *code, size_t offset)
{
	const uint8_t *bytes = code->bytes + offset;
	size_t left = code->size - offset;
	uint64_t address = offset;

	return cs_disasm_iter(code->handle, &bytes, &left, &address, code->insn);
}

const cs_x86_op *code_operand(const struct code *code, unsigned int index)
{
	const cs_x86 *x86 = &code->insn->detail->x86;

	return index < x86->op_count ? &x86->operands[index] : NULL;
}

bool code_is_stack_pointer(unsigned int reg)
{
	return reg == X86_REG_RSP || reg == X86_REG_ESP || reg == X86_REG_SP || reg == X86_REG_SPL;
}
