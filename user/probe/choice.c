/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The choice of the probed instruction: see choice.h. */
#include "probe/choice.h"

#include <capstone/capstone.h>
#include <stdio.h>
#include <string.h>

#include "probe/code.h"
#include "probe/flow.h"

static void choice_explain(struct choice *choice, const char *reason)
{
	snprintf(choice->reason, sizeof(choice->reason), "%s", reason);
}

#if defined(__x86_64__)

/* The offset of a site that is cheaper than the entry; 0, with the reason filled in, if there is none. */
static size_t choice_search(const uint8_t *bytes, size_t size, const struct choice_needs *needs,
			    struct choice *choice)
{
	struct code code;
	size_t site;

	if (code_open(&code, bytes, size, needs)) {
		choice_explain(choice, "no disassembler");
		return 0;
	}
	site = code_walk(&code, &choice->stack_bytes);
	if (site && !code_is_alone(&code, site, &choice->leaves)) {
		choice->stack_bytes = 0;
		site = 0;
	}
	choice_explain(choice, site ? "as good as the entry, without a single step" : code.refusal);
	code_close(&code);
	return site;
}

/* Is the function a direct jump, perhaps behind an endbr64 and with a bnd prefix? */
static void choice_find_stub(const uint8_t *code, size_t size, struct choice *choice)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = 0;
	int32_t far;

	if (size >= sizeof(endbr64) && memcmp(code, endbr64, sizeof(endbr64)) == 0)
		at = sizeof(endbr64);
	if (at < size && code[at] == 0xf2)
		at++;
	if (size >= at + 5 && code[at] == 0xe9) {
		memcpy(&far, code + at + 1, sizeof(far));
		choice->stub_target = (int64_t)(at + 5) + far;
	} else if (size >= at + 2 && code[at] == 0xeb) {
		choice->stub_target = (int64_t)(at + 2) + (int8_t)code[at + 1];
	} else {
		return;
	}
	choice->stub = true;
}

/* Fill in the site's offset, its text and its cost. */
static void choice_set_site(const uint8_t *code, size_t size, uint64_t address, uint64_t offset,
			    const struct choice_needs *needs, struct choice *choice)
{
	cs_insn *insn = NULL;
	csh handle;

	choice->offset = offset;
	choice->cost = COST_UNKNOWN;
	choice->instruction[0] = '\0';
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle))
		return;
	cs_option(handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	if (cs_disasm(handle, code + offset, size - offset, address + offset, 1, &insn) == 1) {
		snprintf(choice->instruction, sizeof(choice->instruction), "%.20s%s%.40s",
			 insn->mnemonic, *insn->op_str ? " " : "", insn->op_str);
		choice->cost =
			trap_cost(code + offset, insn->size, address + offset, &needs->features);
		cs_free(insn, 1);
	}
	cs_close(&handle);
}

void choice_make(const uint8_t *code, size_t size, bool complete, uint64_t address,
		 const struct choice_needs *needs, struct choice *ret)
{
	struct choice choice = { 0 };
	uint64_t site = 0;

	choice_find_stub(code, size, &choice);
	choice_set_site(code, size, address, 0, needs, &choice);
	if (needs->at_entry)
		choice_explain(&choice, "plain entries were asked for");
	else if (choice.cost == COST_EMULATED || choice.cost == COST_OPTIMIZED)
		choice_explain(&choice, "the entry is cheap");
	else if (!complete)
		choice_explain(&choice, "the function's size is not certain");
	else if (size > CHOICE_SIZE_MAX)
		choice_explain(&choice, "the function is too large to be sure");
	else
		site = choice_search(code, size, needs, &choice);
	if (site)
		choice_set_site(code, size, address, site, needs, &choice);
	*ret = choice;
}

#else

/* Is the function a direct jump, perhaps behind a landing pad? */
static void choice_find_stub(const uint8_t *code, size_t size, struct choice *choice)
{
	uint32_t instructions[2];
	struct flow flow;
	size_t at;

	if (size < sizeof(instructions[0]))
		return;
	memcpy(instructions, code, size < sizeof(instructions) ? 4 : 8);
	at = size >= sizeof(instructions) && instructions[0] == 0xd503245f; /* bti c */
	flow = flow_arm64(instructions[at], at * 4);
	choice->stub = flow.kind == FLOW_JUMP && flow.direct;
	if (choice->stub)
		choice->stub_target = (int64_t)flow.target;
}

static void choice_set_site(const uint8_t *code, size_t size, uint64_t address, uint64_t offset,
			    const struct choice_needs *needs, struct choice *choice)
{
	choice->offset = offset;
	choice->instruction[0] = '\0';
	choice->cost = trap_cost(code, size, address, &needs->features);
}

void choice_make(const uint8_t *code, size_t size, bool complete, uint64_t address,
		 const struct choice_needs *needs, struct choice *ret)
{
	struct choice choice = { 0 };

	(void)complete;
	choice_find_stub(code, size, &choice);
	choice_set_site(code, size, address, 0, needs, &choice);
	choice_explain(&choice, "instructions of this architecture are not analysed");
	*ret = choice;
}

#endif

void choice_fall_back(const uint8_t *code, size_t size, uint64_t address,
		      const struct choice_needs *needs, const char *reason, struct choice *choice)
{
	choice->leaves = false;
	choice->stack_bytes = 0;
	choice_set_site(code, size, address, 0, needs, choice);
	choice_explain(choice, reason);
}
