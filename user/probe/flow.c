/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decoding for control flow: see flow.h. */
#include "probe/flow.h"

#include <string.h>

/* The signed number of words in some bits of an arm64 instruction, as a distance in bytes. */
static uint64_t arm64_distance(uint32_t instruction, unsigned int low, unsigned int bits)
{
	uint64_t sign = 1ull << (bits - 1);
	uint64_t words = instruction >> low & ((1u << bits) - 1);

	return ((words ^ sign) - sign) * 4;
}

/* Classes of "Branches, exception generating and system instructions" in Arm's manual; what is in none goes on. */
static const struct {
	uint32_t mask, bits;
	enum flow_kind kind;
	uint8_t low, width; /* of the distance; 0 = there is none in it */
} arm64_classes[] = {
	{ 0xfc000000, 0x14000000, FLOW_JUMP, 0, 26 }, /* b */
	{ 0xfc000000, 0x94000000, FLOW_CALL, 0, 26 }, /* bl */
	{ 0xff000000, 0x54000000, FLOW_BRANCH, 5, 19 }, /* b.cond, bc.cond */
	{ 0x7e000000, 0x34000000, FLOW_BRANCH, 5, 19 }, /* cbz, cbnz */
	{ 0x7e000000, 0x36000000, FLOW_BRANCH, 5, 14 }, /* tbz, tbnz */
	{ 0xfffffc1f, 0xd65f0000, FLOW_RETURN, 0, 0 }, /* ret */
	{ 0xfffffbff, 0xd65f0bff, FLOW_RETURN_UNPROBED, 0, 0 }, /* retaa, retab */
	{ 0xfefff000, 0xd61f0000, FLOW_JUMP, 0, 0 }, /* br, braa, brab */
	{ 0xfefff000, 0xd63f0000, FLOW_CALL, 0, 0 }, /* blr, blraa, blrab */
	{ 0xffe0001f, 0xd4200000, FLOW_STOP, 0, 0 }, /* brk */
	{ 0xffff0000, 0x00000000, FLOW_STOP, 0, 0 }, /* udf */
};

struct flow flow_arm64(uint32_t instruction, uint64_t address)
{
	struct flow flow = { .size = sizeof(instruction) };
	size_t i;

	for (i = 0; i < sizeof(arm64_classes) / sizeof(arm64_classes[0]); i++) {
		if ((instruction & arm64_classes[i].mask) != arm64_classes[i].bits)
			continue;
		flow.kind = arm64_classes[i].kind;
		flow.direct = arm64_classes[i].width;
		if (flow.direct)
			flow.target = address + arm64_distance(instruction, arm64_classes[i].low,
							       arm64_classes[i].width);
		break;
	}
	return flow;
}

#if defined(__x86_64__)

bool flow_open(struct flow_decoder *decoder, const char **ret_reason)
{
	*decoder = (struct flow_decoder){ 0 };
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &decoder->handle)) {
		*ret_reason = "no disassembler";
		return false;
	}
	cs_option(decoder->handle, CS_OPT_DETAIL, CS_OPT_ON);
	decoder->insn = cs_malloc(decoder->handle);
	if (!decoder->insn)
		*ret_reason = "no memory for the disassembler";
	return decoder->insn;
}

void flow_close(struct flow_decoder *decoder)
{
	if (decoder->insn)
		cs_free(decoder->insn, 1);
	if (decoder->handle)
		cs_close(&decoder->handle);
}

static bool insn_is_in(const struct flow_decoder *decoder, unsigned int group)
{
	return cs_insn_group(decoder->handle, decoder->insn, (uint8_t)group);
}

static enum flow_kind insn_kind(const struct flow_decoder *decoder)
{
	unsigned int id = decoder->insn->id;

	if (insn_is_in(decoder, CS_GRP_RET))
		return FLOW_RETURN;
	if (id == X86_INS_HLT || id == X86_INS_UD2 || id == X86_INS_INT3)
		return FLOW_STOP;
	if (insn_is_in(decoder, CS_GRP_CALL))
		return FLOW_CALL;
	if (!insn_is_in(decoder, CS_GRP_JUMP))
		return FLOW_ON;
	return id == X86_INS_JMP ? FLOW_JUMP : FLOW_BRANCH;
}

bool flow_decode(struct flow_decoder *decoder, const uint8_t *bytes, size_t size, uint64_t address,
		 struct flow *ret_flow)
{
	const cs_x86_op *operand;
	uint64_t start = address;

	if (!cs_disasm_iter(decoder->handle, &bytes, &size, &address, decoder->insn))
		return false;
	operand = decoder->insn->detail->x86.operands;
	*ret_flow = (struct flow){
		.kind = insn_kind(decoder),
		.direct = decoder->insn->detail->x86.op_count == 1 && operand->type == X86_OP_IMM,
		.size = address - start,
	};
	if (ret_flow->direct)
		ret_flow->target = (uint64_t)operand->imm;
	return true;
}

#else

bool flow_open(struct flow_decoder *decoder, const char **ret_reason)
{
	(void)ret_reason;
	*decoder = (struct flow_decoder){ 0 };
	return true;
}

void flow_close(struct flow_decoder *decoder)
{
	(void)decoder;
}

bool flow_decode(struct flow_decoder *decoder, const uint8_t *bytes, size_t size, uint64_t address,
		 struct flow *ret_flow)
{
	uint32_t instruction;

	(void)decoder;
	if (size < sizeof(instruction))
		return false;
	memcpy(&instruction, bytes, sizeof(instruction));
	*ret_flow = flow_arm64(instruction, address);
	return true;
}

#endif
