/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Direct calls of a function: see calls.h. */
#include "probe/calls.h"

#include <capstone/capstone.h>

#if defined(__x86_64__)

static bool insn_goes_to(csh handle, const cs_insn *insn, int64_t *ret_target)
{
	const cs_x86 *x86 = &insn->detail->x86;

	if (!cs_insn_group(handle, insn, CS_GRP_CALL) && !cs_insn_group(handle, insn, CS_GRP_JUMP))
		return false;
	if (x86->op_count != 1 || x86->operands[0].type != X86_OP_IMM)
		return false;
	*ret_target = x86->operands[0].imm;
	return true;
}

bool calls_any(const uint8_t *code, size_t size, bool (*wanted)(void *context, int64_t target),
	       void *context)
{
	uint64_t address = 0;
	bool found = false;
	int64_t target;
	cs_insn *insn;
	csh handle;

	if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle))
		return false;
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	insn = cs_malloc(handle);
	while (insn && !found && cs_disasm_iter(handle, &code, &size, &address, insn))
		if (insn_goes_to(handle, insn, &target))
			found = wanted(context, target);
	if (insn)
		cs_free(insn, 1);
	cs_close(&handle);
	return found;
}

#else

bool calls_any(const uint8_t *code, size_t size, bool (*wanted)(void *context, int64_t target),
	       void *context)
{
	(void)code;
	(void)size;
	(void)wanted;
	(void)context;
	return false;
}

#endif
