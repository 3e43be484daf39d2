/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See inside.h. What each register holds is followed through the code, over all ways, until nothing changes. */
#include "probe/inside.h"

#include <capstone/capstone.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#if defined(__x86_64__)

#define REGISTERS 16
#define INSTRUCTIONS_MAX 600
#define TESTS_MAX 8
#define RUNS_MAX 200000
#define SLOTS 4

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11 };

/* What a register or a word of the stack holds, as far as it is certain on all ways. */
enum held {
	HELD_OTHER = 0,
	HELD_SIZE, /* the bytes asked for */
	HELD_COUNT,
	HELD_EACH, /* the arguments whose product that is */
	HELD_FRESH, /* a result that no site has been passed with, or NULL */
	HELD_SEEN, /* a result that exactly one was passed with, or NULL */
	HELD_ZERO,
};

struct state {
	uint8_t registers[REGISTERS]; /* enum held */
	uint8_t slots[SLOTS];
	int32_t slot_at[SLOTS]; /* bytes below the return address; 0 = unused */
	int32_t stack; /* bytes by which it has grown */
	int32_t bp_at; /* where rbp was saved; 0 = not */
	bool known; /* a way leads here */
};

struct step {
	cs_insn *insn;
	struct state state; /* before it */
	int32_t next; /* index of the one behind it; -1 = none */
	int32_t target; /* of a jump; -1 = none in the function */
	bool final; /* a call that does not return */
};

struct inside_code {
	csh handle;
	cs_insn *insns;
	size_t count;
	struct step *steps;
	uint64_t address, size, allocates;
	uint32_t tests[TESTS_MAX]; /* candidates: conditional jumps behind a test */
	size_t test_count;
	unsigned int chosen; /* bits of these */
	bool (*returns_first)(void *context, uint64_t target);
	void *context;
	const char *refusal;
};

static const unsigned int names64[REGISTERS] = {
	X86_REG_RAX, X86_REG_RCX, X86_REG_RDX, X86_REG_RBX, X86_REG_RSP, X86_REG_RBP,
	X86_REG_RSI, X86_REG_RDI, X86_REG_R8,  X86_REG_R9,  X86_REG_R10, X86_REG_R11,
	X86_REG_R12, X86_REG_R13, X86_REG_R14, X86_REG_R15,
};
static const unsigned int names32[REGISTERS] = {
	X86_REG_EAX,  X86_REG_ECX,  X86_REG_EDX,  X86_REG_EBX,	X86_REG_ESP,  X86_REG_EBP,
	X86_REG_ESI,  X86_REG_EDI,  X86_REG_R8D,  X86_REG_R9D,	X86_REG_R10D, X86_REG_R11D,
	X86_REG_R12D, X86_REG_R13D, X86_REG_R14D, X86_REG_R15D,
};
static const unsigned int names16[REGISTERS] = {
	X86_REG_AX,   X86_REG_CX,   X86_REG_DX,	  X86_REG_BX,	X86_REG_SP,   X86_REG_BP,
	X86_REG_SI,   X86_REG_DI,   X86_REG_R8W,  X86_REG_R9W,	X86_REG_R10W, X86_REG_R11W,
	X86_REG_R12W, X86_REG_R13W, X86_REG_R14W, X86_REG_R15W,
};
static const unsigned int names8[REGISTERS] = {
	X86_REG_AL,   X86_REG_CL,   X86_REG_DL,	  X86_REG_BL,	X86_REG_SPL,  X86_REG_BPL,
	X86_REG_SIL,  X86_REG_DIL,  X86_REG_R8B,  X86_REG_R9B,	X86_REG_R10B, X86_REG_R11B,
	X86_REG_R12B, X86_REG_R13B, X86_REG_R14B, X86_REG_R15B,
};

/* The number of a register of 64 bits, or -1. */
static int register_of(unsigned int name)
{
	int i;

	for (i = 0; i < REGISTERS; i++)
		if (names64[i] == name)
			return i;
	return -1;
}

/* The number of the register that a name is a part of, or -1. */
static int register_around(unsigned int name)
{
	int i;

	for (i = 0; i < REGISTERS; i++)
		if (names64[i] == name || names32[i] == name || names16[i] == name ||
		    names8[i] == name)
			return i;
	if (name == X86_REG_AH)
		return RAX;
	if (name == X86_REG_CH)
		return RCX;
	if (name == X86_REG_DH)
		return RDX;
	return name == X86_REG_BH ? RBX : -1;
}

static void code_refuse(struct inside_code *code, const char *why)
{
	if (!code->refusal)
		code->refusal = why;
}

static const cs_x86_op *operand(const cs_insn *insn, unsigned int index)
{
	return &insn->detail->x86.operands[index];
}

static bool is_register(const cs_insn *insn, unsigned int index)
{
	return index < insn->detail->x86.op_count && operand(insn, index)->type == X86_OP_REG;
}

/* test %reg,%reg of 64 bits: the number of the register, or -1. */
static int tests_register(const cs_insn *insn)
{
	if (insn->id != X86_INS_TEST || !is_register(insn, 0) || !is_register(insn, 1) ||
	    operand(insn, 0)->reg != operand(insn, 1)->reg)
		return -1;
	return register_of(operand(insn, 0)->reg);
}

/* test $0xf,%al, or of another register */
static int tests_alignment(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	if (insn->id != X86_INS_TEST || x86->op_count != 2 || x86->operands[0].type != X86_OP_REG ||
	    x86->operands[1].type != X86_OP_IMM || x86->operands[1].imm != 15)
		return -1;
	return register_around(x86->operands[0].reg);
}

static bool is_branch(const cs_insn *insn)
{
	return insn->id == X86_INS_JE || insn->id == X86_INS_JNE;
}

static bool is_jump(const struct inside_code *code, const cs_insn *insn)
{
	return cs_insn_group(code->handle, insn, CS_GRP_JUMP);
}

/* The index of the instruction at an address, or -1. */
static int32_t index_at(const struct inside_code *code, uint64_t address)
{
	size_t low = 0, high = code->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (code->insns[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < code->count && code->insns[low].address == address ? (int32_t)low : -1;
}

/* Compilers align what follows a call that does not return; at the function's end, it is one, too. */
static bool is_final_call(const struct inside_code *code, size_t index)
{
	const cs_insn *insn = &code->insns[index];

	if (!cs_insn_group(code->handle, insn, CS_GRP_CALL))
		return false;
	if (index + 1 == code->count)
		return true;
	return insn[1].id == X86_INS_NOP;
}

static void code_link(struct inside_code *code)
{
	size_t i, k;

	code->steps = memory_alloc(code->count, sizeof(*code->steps));
	for (i = 0; i < code->count; i++) {
		struct step *step = &code->steps[i];
		cs_insn *insn = &code->insns[i];

		*step = (struct step){ .insn = insn, .next = (int32_t)i + 1, .target = -1 };
		step->final = is_final_call(code, i);
		if (i + 1 == code->count)
			step->next = -1;
		if (insn->id == X86_INS_JMP || insn->id == X86_INS_RET || insn->id == X86_INS_UD2 ||
		    insn->id == X86_INS_HLT || step->final)
			step->next = -1;
		if (is_jump(code, insn) && operand(insn, 0)->type == X86_OP_IMM)
			step->target = index_at(code, (uint64_t)operand(insn, 0)->imm);
	}
	/* What is called at the end does not return anywhere else either. */
	for (i = 0; i < code->count; i++)
		for (k = 0; k < code->count && code->steps[i].final; k++)
			if (code->steps[k].insn->id == X86_INS_CALL &&
			    operand(code->steps[k].insn, 0)->type == X86_OP_IMM &&
			    operand(code->steps[i].insn, 0)->type == X86_OP_IMM &&
			    operand(code->steps[k].insn, 0)->imm ==
				    operand(code->steps[i].insn, 0)->imm &&
			    i + 1 == code->count)
				code->steps[k].next = -1;
}

static uint8_t held_meet(uint8_t one, uint8_t other)
{
	uint8_t least = one < other ? one : other, most = one < other ? other : one;

	if (one == other)
		return one;
	/* Either may be NULL. */
	if (most == HELD_ZERO && (least == HELD_FRESH || least == HELD_SEEN))
		return least;
	return HELD_OTHER;
}

static uint8_t *state_slot(struct state *state, int32_t at, bool make)
{
	int i, unused = -1;

	for (i = 0; i < SLOTS; i++) {
		if (state->slot_at[i] == at)
			return &state->slots[i];
		if (!state->slot_at[i])
			unused = i;
	}
	if (!make || unused < 0)
		return NULL;
	state->slot_at[unused] = at;
	state->slots[unused] = HELD_OTHER;
	return &state->slots[unused];
}

/* Keep of a state what another way to it confirms. True if that is less. */
static bool state_meet(struct inside_code *code, struct state *state, const struct state *way)
{
	struct state met = *state;
	uint8_t *slot;
	int i;

	if (!state->known) {
		*state = *way;
		return true;
	}
	if (met.stack != way->stack || met.bp_at != way->bp_at)
		code_refuse(code, "its stack is not the same on all ways");
	for (i = 0; i < REGISTERS; i++)
		met.registers[i] = held_meet(met.registers[i], way->registers[i]);
	for (i = 0; i < SLOTS; i++) {
		slot = met.slot_at[i] ? state_slot((struct state *)way, met.slot_at[i], false)
				      : NULL;
		met.slots[i] = held_meet(met.slots[i], slot ? *slot : HELD_OTHER);
		if (met.slots[i] == HELD_OTHER)
			met.slot_at[i] = 0;
	}
	if (!memcmp(&met, state, sizeof(met)))
		return false;
	*state = met;
	return true;
}

/* A word of the stack, by bytes below the return address; 0 = it is none. */
static int32_t stack_word(const struct state *state, const cs_x86_op *op)
{
	if (op->type != X86_OP_MEM || op->mem.base != X86_REG_RSP ||
	    op->mem.index != X86_REG_INVALID || op->size != 8)
		return 0;
	return (int32_t)(state->stack - op->mem.disp);
}

static void apply_call(struct inside_code *code, const cs_insn *insn, struct state *state)
{
	static const int clobbered[] = { RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11 };
	const cs_x86_op *to = operand(insn, 0);
	size_t i;

	for (i = 0; i < sizeof(clobbered) / sizeof(clobbered[0]); i++)
		state->registers[clobbered[i]] = HELD_OTHER;
	if (to->type == X86_OP_IMM && (uint64_t)to->imm == code->allocates)
		state->registers[RAX] = HELD_FRESH;
}

static void apply_push(const cs_insn *insn, struct state *state)
{
	state->stack += 8;
	if (is_register(insn, 0) && operand(insn, 0)->reg == X86_REG_RBP && !state->bp_at)
		state->bp_at = state->stack;
}

/* A move of 64 bits between registers and words of the stack. True if it was one. */
static bool apply_move(const cs_insn *insn, struct state *state)
{
	const cs_x86_op *to = operand(insn, 0), *from = operand(insn, 1);
	int left = to->type == X86_OP_REG ? register_of(to->reg) : -1;
	int right = from->type == X86_OP_REG ? register_of(from->reg) : -1;
	int32_t at;
	uint8_t *slot;

	if (insn->id != X86_INS_MOV || insn->detail->x86.op_count != 2)
		return false;
	if (left >= 0 && right >= 0) {
		state->registers[left] = state->registers[right];
		return true;
	}
	at = stack_word(state, left >= 0 ? from : to);
	if (!at || (left < 0 && right < 0))
		return false;
	slot = state_slot(state, at, left < 0);
	if (left >= 0)
		state->registers[left] = slot ? *slot : HELD_OTHER;
	else if (slot)
		*slot = state->registers[right];
	return true;
}

static bool apply_known(const cs_insn *insn, struct state *state)
{
	int left = is_register(insn, 0) ? register_around(operand(insn, 0)->reg) : -1;
	int right = is_register(insn, 1) ? register_around(operand(insn, 1)->reg) : -1;
	const uint8_t *held = state->registers;

	if (insn->id == X86_INS_XOR && left >= 0 && left == right && operand(insn, 0)->size >= 4) {
		state->registers[left] = HELD_ZERO;
		return true;
	}
	if (insn->id == X86_INS_MUL && left >= 0 && insn->detail->x86.op_count == 1 &&
	    ((held[left] == HELD_EACH && held[RAX] == HELD_COUNT) ||
	     (held[left] == HELD_COUNT && held[RAX] == HELD_EACH))) {
		state->registers[RAX] = HELD_SIZE;
		state->registers[RDX] = HELD_OTHER;
		return true;
	}
	return apply_move(insn, state);
}

/* Registers and the stack behind an instruction that is no jump. */
static void step_apply(struct inside_code *code, const cs_insn *insn, struct state *state)
{
	cs_regs reads, writes;
	uint8_t read_count, write_count, i;
	int number;

	if (cs_insn_group(code->handle, insn, CS_GRP_CALL)) {
		apply_call(code, insn, state);
		return;
	}
	if (insn->id == X86_INS_PUSH) {
		apply_push(insn, state);
		return;
	}
	if (apply_known(insn, state))
		return;
	if (cs_regs_access(code->handle, insn, reads, &read_count, writes, &write_count)) {
		code_refuse(code, "an instruction is not understood");
		return;
	}
	for (i = 0; i < write_count; i++) {
		number = register_around(writes[i]);
		if (number >= 0 && number != RSP)
			state->registers[number] = HELD_OTHER;
		if (number != RSP)
			continue;
		if (insn->id == X86_INS_POP)
			state->stack -= 8;
		else if ((insn->id == X86_INS_SUB || insn->id == X86_INS_ADD) &&
			 operand(insn, 1)->type == X86_OP_IMM)
			state->stack += (int32_t)(insn->id == X86_INS_SUB ? operand(insn, 1)->imm
									  : -operand(insn, 1)->imm);
		else
			code_refuse(code, "its stack grows by an unknown size");
	}
}

/* Is the jump with this index one of the chosen ones? */
static bool is_chosen(const struct inside_code *code, size_t index)
{
	size_t i;

	for (i = 0; i < code->test_count; i++)
		if (code->tests[i] == index)
			return code->chosen >> i & 1;
	return false;
}

/* What a test of a register and the jump behind it show: of the way behind the jump, and of the jumped one. */
static void branch_apply(struct inside_code *code, size_t index, struct state *behind,
			 struct state *there)
{
	const cs_insn *test = &code->insns[index - 1], *jump = &code->insns[index];
	int number = index ? tests_register(test) : -1, aligned;
	struct state *none = jump->id == X86_INS_JE ? there : behind;
	struct state *some = jump->id == X86_INS_JE ? behind : there;

	if (!index || !is_branch(jump))
		return;
	aligned = tests_alignment(test);
	if (number >= 0 && behind->registers[number] == HELD_FRESH) {
		none->registers[number] = HELD_ZERO;
		if (is_chosen(code, index))
			some->registers[number] = HELD_SEEN;
	} else if (aligned >= 0 && is_chosen(code, index) && jump->id == X86_INS_JNE) {
		/* What is not aligned is no block: the program is ended there. */
		behind->registers[aligned] = HELD_SEEN;
	}
}

static bool held_is_done(uint8_t held)
{
	return held == HELD_SEEN || held == HELD_ZERO;
}

/* The way leaves the function. */
static void step_leave(struct inside_code *code, const cs_insn *insn, const struct state *state)
{
	bool jumps = insn->id == X86_INS_JMP;

	if (jumps && (operand(insn, 0)->type != X86_OP_IMM ||
		      !code->returns_first(code->context, (uint64_t)operand(insn, 0)->imm)))
		code_refuse(code, "it goes on elsewhere");
	else if (state->stack)
		code_refuse(code, "its stack is not what it was where it returns");
	else if (!held_is_done(state->registers[jumps ? RDI : RAX]))
		code_refuse(code,
			    "a way to a return has no place, or two, where the result is in a "
			    "register");
}

static void code_visit(struct inside_code *code, int32_t index, int32_t *pending, size_t *count)
{
	struct step *step = &code->steps[index];
	struct state behind = step->state, there;

	if (step->insn->id == X86_INS_RET || (is_jump(code, step->insn) && step->target < 0)) {
		step_leave(code, step->insn, &behind);
		return;
	}
	if (step->final)
		return;
	if (!is_jump(code, step->insn))
		step_apply(code, step->insn, &behind);
	there = behind;
	if (step->target >= 0 && step->next >= 0)
		branch_apply(code, (size_t)index, &behind, &there);
	if (step->next >= 0 && state_meet(code, &code->steps[step->next].state, &behind))
		pending[(*count)++] = step->next;
	if (step->target >= 0 && state_meet(code, &code->steps[step->target].state, &there))
		pending[(*count)++] = step->target;
	if (step->next < 0 && step->target < 0 && step->insn->id != X86_INS_UD2 &&
	    step->insn->id != X86_INS_HLT && step->insn->id != X86_INS_CALL)
		code_refuse(code, "it runs out of its bytes");
}

/* Follow all ways with the chosen sites. False if they do not do. */
static bool code_run(struct inside_code *code, bool multiplies)
{
	int32_t *pending = memory_alloc(RUNS_MAX + 2, sizeof(*pending));
	size_t count = 0, runs = 0, i;

	code->refusal = NULL;
	for (i = 0; i < code->count; i++)
		code->steps[i].state = (struct state){ 0 };
	code->steps[0].state.known = true;
	code->steps[0].state.registers[RDI] = multiplies ? HELD_COUNT : HELD_SIZE;
	if (multiplies)
		code->steps[0].state.registers[RSI] = HELD_EACH;
	pending[count++] = 0;
	while (count && !code->refusal) {
		if (++runs > RUNS_MAX / 2)
			code_refuse(code, "it is too large");
		else
			code_visit(code, pending[--count], pending, &count);
	}
	free(pending);
	return !code->refusal;
}

/* What is called most, and tested for NULL. */
static uint64_t code_find_allocates(const struct inside_code *code)
{
	size_t i, k, found, most = 0;
	uint64_t best = 0;

	for (i = 0; i + 1 < code->count; i++) {
		const cs_insn *insn = &code->insns[i];

		if (insn->id != X86_INS_CALL || operand(insn, 0)->type != X86_OP_IMM ||
		    tests_register(&insn[1]) != RAX)
			continue;
		for (k = found = 0; k < code->count; k++)
			found += code->insns[k].id == X86_INS_CALL &&
				 operand(&code->insns[k], 0)->type == X86_OP_IMM &&
				 operand(&code->insns[k], 0)->imm == operand(insn, 0)->imm;
		if (found > most) {
			most = found;
			best = (uint64_t)operand(insn, 0)->imm;
		}
	}
	return most > 1 ? best : 0;
}

static void code_find_tests(struct inside_code *code)
{
	size_t i;

	for (i = 1; i < code->count; i++) {
		if (!is_branch(&code->insns[i]) || code->steps[i].target < 0 ||
		    (tests_register(&code->insns[i - 1]) != RAX &&
		     tests_alignment(&code->insns[i - 1]) != RAX))
			continue;
		if (code->test_count == TESTS_MAX) {
			code_refuse(code, "it has too many tests of results");
			return;
		}
		code->tests[code->test_count++] = (uint32_t)i;
	}
}

static bool inside_add(struct inside *ret, const struct inside_code *code, size_t index,
		       const struct inside_site *site)
{
	const struct state *state = &code->steps[index].state;

	if (ret->count == INSIDE_MAX || state->stack <= 0 || state->stack > 255 ||
	    state->bp_at / 8 > 15)
		return false;
	ret->sites[ret->count] = *site;
	ret->sites[ret->count].offset = code->insns[index].address - code->address;
	ret->sites[ret->count].length = (uint8_t)code->insns[index].size;
	ret->sites[ret->count].stack_bytes = (uint32_t)state->stack;
	ret->sites[ret->count++].saved_bp = (uint8_t)(state->bp_at / 8);
	return true;
}

/* The calls that lead to a site whose size is in no register any more. */
static bool inside_add_calls(struct inside *ret, const struct inside_code *code)
{
	size_t i;

	for (i = 0; i + 1 < code->count; i++) {
		const cs_insn *insn = &code->insns[i];

		if (insn->id != X86_INS_CALL || operand(insn, 0)->type != X86_OP_IMM ||
		    (uint64_t)operand(insn, 0)->imm != code->allocates)
			continue;
		if (!code->steps[i].state.known)
			continue;
		if (code->steps[i].state.registers[RSI] != HELD_SIZE)
			return false;
		/* Where the size outlives the call, it is not noted. */
		if (code->steps[i + 1].state.registers[RBX] == HELD_SIZE ||
		    code->steps[i + 1].state.registers[RBP] == HELD_SIZE)
			continue;
		if (!inside_add(ret, code, i,
				&(struct inside_site){ .size = RSI, .is_call = true }))
			return false;
	}
	return true;
}

static bool inside_collect(struct inside *ret, const struct inside_code *code)
{
	static const int kept[] = { RBX, RBP, 12, 13, 14, 15 };
	bool noted = false;
	size_t i, k;

	for (i = 0; i < code->test_count; i++) {
		struct inside_site site = { .result = RAX, .size = INSIDE_NOTED };
		const struct state *state = &code->steps[code->tests[i]].state;

		if (!(code->chosen >> i & 1) || !state->known ||
		    (state->registers[RAX] != HELD_FRESH &&
		     tests_alignment(&code->insns[code->tests[i] - 1]) < 0))
			continue;
		for (k = 0; k < sizeof(kept) / sizeof(kept[0]); k++)
			if (state->registers[kept[k]] == HELD_SIZE)
				site.size = (uint8_t)kept[k];
		noted |= site.size == INSIDE_NOTED;
		if (!inside_add(ret, code, code->tests[i], &site))
			return false;
	}
	return ret->count && (!noted || inside_add_calls(ret, code));
}

/* The most sites that do. */
static bool inside_choose(struct inside_code *code, bool multiplies)
{
	unsigned int wanted, chosen;
	const char *refusal = NULL;

	for (wanted = (unsigned int)code->test_count; wanted > 0; wanted--) {
		for (chosen = 1; chosen < 1u << code->test_count; chosen++) {
			if ((unsigned int)__builtin_popcount(chosen) != wanted)
				continue;
			code->chosen = chosen;
			if (code_run(code, multiplies))
				return true;
			refusal = code->refusal;
		}
	}
	code->refusal = refusal ? refusal : "it tests no result";
	return false;
}

bool inside_find(const uint8_t *code, size_t size, uint64_t address, bool multiplies,
		 uint64_t allocates, bool (*returns_first)(void *context, uint64_t target),
		 void *context, struct inside *ret)
{
	struct inside_code search = {
		.address = address, .size = size, .returns_first = returns_first, .context = context
	};

	*ret = (struct inside){ 0 };
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &search.handle) != CS_ERR_OK) {
		ret->refusal = "there is no disassembler";
		return false;
	}
	cs_option(search.handle, CS_OPT_DETAIL, CS_OPT_ON);
	search.count = cs_disasm(search.handle, code, size, address, 0, &search.insns);
	if (!search.count || search.count > INSTRUCTIONS_MAX ||
	    search.insns[search.count - 1].address + search.insns[search.count - 1].size !=
		    address + size) {
		code_refuse(&search, "not all bytes of it decode");
	} else {
		code_link(&search);
		search.allocates = allocates ? allocates : code_find_allocates(&search);
		ret->allocates = search.allocates;
		code_find_tests(&search);
		if (!search.allocates)
			code_refuse(&search, "it calls nothing that allocates");
		if (!search.refusal && inside_choose(&search, multiplies) &&
		    !inside_collect(ret, &search))
			code_refuse(&search, "the size that was asked for is in no register");
	}
	ret->refusal = search.refusal;
	cs_free(search.insns, search.count);
	free(search.steps);
	cs_close(&search.handle);
	return !ret->refusal;
}

#else

bool inside_find(const uint8_t *code, size_t size, uint64_t address, bool multiplies,
		 uint64_t allocates, bool (*returns_first)(void *context, uint64_t target),
		 void *context, struct inside *ret)
{
	(void)code, (void)size, (void)address, (void)multiplies, (void)allocates;
	(void)returns_first, (void)context;
	*ret = (struct inside){ .refusal = "not on this machine" };
	return false;
}

#endif
