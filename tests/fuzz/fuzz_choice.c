/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The choice of the probed instruction on code that nobody wrote: random bytes, sequences of common instructions, and
 * real functions with bytes changed. Every chosen site is checked against the rules by an oracle that shares nothing
 * with the program: on the way from the entry to the site it decodes by a table of its own, made from the processor's
 * manual; for the rest of the function it reads the disassembler's text instead of its operands.
 */
#include <capstone/capstone.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/choice.h"

#if defined(__x86_64__)

#define SIZE_MAX_HERE 4096
#define REAL_MAX 160

#define CHECK(condition)                            \
	do {                                        \
		if (!(condition))                   \
			rule_is_broken(#condition); \
	} while (0)

/* What is being checked, for the message. */
static uint8_t buffer[SIZE_MAX_HERE + 32];
static size_t buffer_size;
static struct choice choice_made;

_Noreturn static void rule_is_broken(const char *condition)
{
	size_t i;

	fprintf(stderr, "rule broken: %s\nsite +%u, %s, of ", condition,
		(unsigned int)choice_made.offset, choice_made.instruction);
	for (i = 0; i < buffer_size && i < 256; i++)
		fprintf(stderr, "%02x", buffer[i]);
	fprintf(stderr, "\n");
	abort();
}

/* Real functions, from tests/data/functions if the fuzzer runs in the root of the repository. */
static struct {
	uint8_t *code;
	size_t size;
} real[REAL_MAX];
static size_t real_count;

static void real_load(const char *path)
{
	FILE *file = fopen(path, "r");
	static char line[2 * 65536];
	size_t i;

	while (file && fgets(line, sizeof(line), file) && real_count < REAL_MAX) {
		const char *hex = strrchr(line, ' ');
		size_t size = hex ? strcspn(hex + 1, "\n") / 2 : 0;

		if (size == 0 || size > SIZE_MAX_HERE)
			continue;
		real[real_count].code = malloc(size);
		for (i = 0; i < size; i++)
			sscanf(hex + 1 + 2 * i, "%2hhx", &real[real_count].code[i]);
		real[real_count++].size = size;
	}
	if (file)
		fclose(file);
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
	static const char *const names[] = { "glibc-2.31",   "glibc-2.36",     "glibc-2.41",
					     "musl-1.2.3",   "jemalloc-5.3.0", "mimalloc-2.0.9",
					     "tcmalloc-2.10" };
	char path[128];
	size_t i;

	(void)count;
	(void)arguments;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "tests/data/functions/%s.txt", names[i]);
		real_load(path);
	}
	return 0;
}

/* Instructions that functions begin with, and some that they hardly ever contain. */
static const char *const snippets[] = {
	"f30f1efa",
	"53",
	"55",
	"4154",
	"4889f8",
	"4889fb",
	"4889c7",
	"89f0",
	"4883ec18",
	"4885ff",
	"7405",
	"75fa",
	"0f8400010000",
	"e800000000",
	"e9f0ffffff",
	"eb02",
	"c3",
	"5b",
	"ffe0",
	"3effe0",
	"ff24c500000000",
	"488b05001000",
	"64488b042528000000",
	"488d05f0ffffff",
	"48890424",
	"488b0424",
	"31c0",
	"31d2",
	"83c801",
	"0f1f440000",
	"0f1f4000",
	"90",
	"6690",
	"0f05",
	"e2f8",
	"e3f8",
	"c7f800000000",
	"f0480fb10f",
	"4887f8",
	"a4",
	"f348a5",
	"48f7e2",
	"4899",
	"40b701",
	"b601",
	"c9",
	"4883c418",
	"8cd8",
	"8ed8",
	"0f20c0",
	"480fc1f8",
	"480f44f8",
	"66ffc6",
	"67890424",
	"4889e5",
	"c8100000",
	"49ffc0",
	"48c1e803",
	"48d3e7",
	"800f01",
	"4881e7ff0f0000",
	"f6c701",
	"48f7df",
	"0fb6ff",
	"4863ff",
};

static size_t snippet_append(uint8_t *code, size_t size, const char *hex)
{
	for (; *hex && size < SIZE_MAX_HERE; hex += 2)
		sscanf(hex, "%2hhx", &code[size++]);
	return size;
}

/* Turn the input into a function. */
static size_t code_make(const uint8_t *data, size_t length, uint8_t *code)
{
	size_t size = 0, i;

	if (data[0] % 3 == 0 || (data[0] % 3 == 1 && real_count == 0)) {
		size = length - 1 < SIZE_MAX_HERE ? length - 1 : SIZE_MAX_HERE;
		memcpy(code, data + 1, size);
	} else if (data[0] % 3 == 1 && length > 1) {
		size = real[data[1] % real_count].size;
		memcpy(code, real[data[1] % real_count].code, size);
		/* Pairs: where (near the beginning), and what. */
		for (i = 2; i + 1 < length; i += 2)
			code[data[i] % size] = data[i + 1];
	} else {
		for (i = 1; i < length; i++)
			size = snippet_append(
				code, size,
				snippets[data[i] % (sizeof(snippets) / sizeof(snippets[0]))]);
	}
	return size;
}

/* The oracle's own decoder, for the few instructions that a site may lie behind. */

#define REG_RSP 4
#define NO_REG 16

struct step {
	size_t length;
	unsigned int written; /* the general register that is written, or NO_REG */
	bool stores_by_rsp; /* to memory that is addressed by the stack pointer */
	uint32_t grows; /* bytes by which sub lowers the stack pointer */
};

struct reader {
	const uint8_t *code;
	size_t at;
	bool wide, operand_size; /* REX.W, 0x66 */
	bool rex;
	unsigned int r, x, b; /* the bits of REX, as 8 or 0 */
	unsigned int mode, reg, rm; /* of the ModRM byte */
	bool memory, by_rsp;
};

static void read_prefixes(struct reader *reader)
{
	while (strchr("\x66\x67\x64\x65\x2e\x36\x26\x3e", reader->code[reader->at]) &&
	       reader->code[reader->at])
		reader->operand_size |= reader->code[reader->at++] == 0x66;
	if ((reader->code[reader->at] & 0xf0) == 0x40) {
		uint8_t rex = reader->code[reader->at++];

		reader->rex = true;
		reader->wide = rex & 8;
		reader->r = rex & 4 ? 8 : 0;
		reader->x = rex & 2 ? 8 : 0;
		reader->b = rex & 1 ? 8 : 0;
	}
}

static void read_modrm(struct reader *reader)
{
	uint8_t modrm = reader->code[reader->at++], sib;
	unsigned int base;

	reader->mode = modrm >> 6;
	reader->reg = (modrm >> 3 & 7) | reader->r;
	reader->rm = (modrm & 7) | reader->b;
	reader->memory = reader->mode != 3;
	if (!reader->memory)
		return;
	base = modrm & 7;
	if (base == 4) {
		sib = reader->code[reader->at++];
		base = sib & 7;
		reader->by_rsp = (base | reader->b) == REG_RSP;
		if (base == 5 && reader->mode == 0)
			reader->at += 4;
	} else if (base == 5 && reader->mode == 0) {
		reader->at += 4;
	}
	reader->at += reader->mode == 1 ? 1 : reader->mode == 2 ? 4 : 0;
}

/* The register that byte instructions mean: without REX, 4 to 7 are the second bytes of 0 to 3. */
static unsigned int byte_register(const struct reader *reader, unsigned int reg, bool is_byte)
{
	return is_byte && !reader->rex && reg >= 4 && reg <= 7 ? reg - 4 : reg;
}

static void write_rm(struct reader *reader, struct step *step, bool is_byte)
{
	if (reader->memory)
		step->stores_by_rsp = reader->by_rsp;
	else
		step->written = byte_register(reader, reader->rm, is_byte);
}

static size_t immediate_size(const struct reader *reader)
{
	return reader->operand_size && !reader->wide ? 2 : 4;
}

static bool step_group1(struct reader *reader, struct step *step, uint8_t opcode)
{
	unsigned int operation;

	read_modrm(reader);
	operation = reader->reg & 7;
	CHECK(operation != 2 && operation != 3); /* adc, sbb */
	if (operation == 5 && opcode != 0x80 && reader->wide && !reader->memory &&
	    reader->rm == REG_RSP) {
		int32_t by = (int8_t)reader->code[reader->at];

		if (opcode == 0x81)
			memcpy(&by, reader->code + reader->at, sizeof(by));
		step->grows = (uint32_t)by;
	} else if (operation != 7) {
		write_rm(reader, step, opcode == 0x80);
	}
	reader->at += opcode == 0x81 ? immediate_size(reader) : 1;
	return true;
}

/* Opcodes 00 to 3f: add, or, and, sub, xor, cmp in their six forms. */
static bool step_arithmetic(struct reader *reader, struct step *step, uint8_t opcode)
{
	unsigned int operation = opcode >> 3, form = opcode & 7;
	bool compares = operation == 7;

	CHECK(operation != 2 && operation != 3 && form < 6);
	if (form >= 4) {
		reader->at += form == 4 ? 1 : immediate_size(reader);
		step->written = compares ? NO_REG : 0;
		return true;
	}
	read_modrm(reader);
	if (compares)
		return true;
	if (form < 2)
		write_rm(reader, step, form == 0);
	else
		step->written = byte_register(reader, reader->reg, form == 2);
	return true;
}

static bool step_two_bytes(struct reader *reader, struct step *step)
{
	uint8_t opcode = reader->code[reader->at++];

	switch (opcode) {
	case 0xb6: /* movzx, movsx */
	case 0xb7:
	case 0xbe:
	case 0xbf:
		read_modrm(reader);
		step->written = reader->reg;
		return true;
	case 0x18: /* hints that do nothing */
	case 0x19:
	case 0x1a:
	case 0x1b:
	case 0x1c:
	case 0x1d:
	case 0x1e:
	case 0x1f:
		read_modrm(reader);
		return true;
	}
	return false;
}

static bool step_unary(struct reader *reader, struct step *step, uint8_t opcode)
{
	unsigned int operation;
	bool is_byte = !(opcode & 1);

	read_modrm(reader);
	operation = reader->reg & 7;
	if (opcode >= 0xfe) {
		CHECK(operation < 2); /* inc, dec */
		write_rm(reader, step, is_byte);
	} else if (operation < 2) {
		reader->at += is_byte ? 1 : immediate_size(reader); /* test */
	} else {
		CHECK(operation < 4); /* not, neg */
		write_rm(reader, step, is_byte);
	}
	return true;
}

static bool step_shift(struct reader *reader, struct step *step, uint8_t opcode)
{
	read_modrm(reader);
	CHECK((reader->reg & 7) >= 4);
	write_rm(reader, step, !(opcode & 1));
	reader->at += opcode < 0xd0;
	return true;
}

/* mov between registers and memory, test, lea, movslq. */
static bool step_move(struct reader *reader, struct step *step, uint8_t opcode)
{
	read_modrm(reader);
	if (opcode == 0x88 || opcode == 0x89)
		write_rm(reader, step, opcode == 0x88);
	else if (opcode == 0x8a || opcode == 0x8b || opcode == 0x8d || opcode == 0x63)
		step->written = byte_register(reader, reader->reg, opcode == 0x8a);
	return true;
}

static bool step_move_immediate(struct reader *reader, struct step *step, uint8_t opcode)
{
	if (opcode >= 0xc6) {
		read_modrm(reader);
		CHECK((reader->reg & 7) == 0);
		write_rm(reader, step, opcode == 0xc6);
		reader->at += opcode == 0xc6 ? 1 : immediate_size(reader);
		return true;
	}
	step->written = byte_register(reader, (opcode & 7) | reader->b, opcode < 0xb8);
	reader->at += opcode < 0xb8 ? 1 : reader->wide ? 8 : immediate_size(reader);
	return true;
}

static bool step_opcode(struct reader *reader, struct step *step, uint8_t opcode)
{
	if (opcode < 0x40 && opcode != 0x0f)
		return step_arithmetic(reader, step, opcode);
	if (opcode == 0x0f)
		return step_two_bytes(reader, step);
	if (opcode == 0x80 || opcode == 0x81 || opcode == 0x83)
		return step_group1(reader, step, opcode);
	if (opcode == 0x63 || (opcode >= 0x84 && opcode <= 0x85) ||
	    (opcode >= 0x88 && opcode <= 0x8b) || opcode == 0x8d)
		return step_move(reader, step, opcode);
	if (opcode == 0xc6 || opcode == 0xc7 || (opcode >= 0xb0 && opcode <= 0xbf))
		return step_move_immediate(reader, step, opcode);
	if (opcode == 0xf6 || opcode == 0xf7 || opcode >= 0xfe)
		return step_unary(reader, step, opcode);
	if (opcode == 0xc0 || opcode == 0xc1 || (opcode >= 0xd0 && opcode <= 0xd3))
		return step_shift(reader, step, opcode);
	if (opcode == 0xa8 || opcode == 0xa9)
		reader->at += opcode == 0xa8 ? 1 : immediate_size(reader);
	else if (opcode >= 0xa0 && opcode <= 0xa3) {
		step->written = opcode < 0xa2 ? 0 : NO_REG;
		reader->at += 8;
	} else if (opcode != 0x90 || reader->b)
		return false;
	return true;
}

/* Decode one instruction that the way may pass; anything else breaks a rule. */
static struct step step_decode(const uint8_t *code)
{
	struct step step = { .written = NO_REG };
	struct reader reader = { .code = code };

	if (memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0) {
		step.length = 4;
		return step;
	}
	read_prefixes(&reader);
	reader.at++;
	CHECK(step_opcode(&reader, &step, code[reader.at - 1]));
	step.length = reader.at;
	return step;
}

/* The registers of the arguments, by position. */
static bool holds_argument(unsigned int reg, uint32_t arguments)
{
	static const unsigned int registers[] = { NO_REG + 1, 7, 6, 2, 1, 8, 9 };
	unsigned int position;

	for (position = 1; position <= 6; position++)
		if (arguments & 1u << position && registers[position] == reg)
			return true;
	return false;
}

static void check_way(const uint8_t *code, const struct choice_needs *needs,
		      const struct choice *choice)
{
	uint32_t grown = 0;
	size_t at = 0;

	while (at < choice->offset) {
		struct step step = step_decode(code + at);

		CHECK(!holds_argument(step.written, needs->arguments));
		CHECK(step.written != REG_RSP);
		CHECK(!step.stores_by_rsp);
		CHECK(step.grows == 0 || !needs->stack_pointer);
		CHECK(step.grows <= 4096 && step.grows % 8 == 0);
		grown += step.grows;
		at += step.length;
	}
	CHECK(at == choice->offset);
	CHECK(grown == choice->stack_bytes);
}

/* Only a plain push of a register, jmp, conditional jump or call. */
static void check_site(const uint8_t *site, size_t left)
{
	bool push = (site[0] & 0xf8) == 0x50 ||
		    (left >= 2 && site[0] == 0x41 && (site[1] & 0xf8) == 0x50);
	bool near = site[0] == 0xeb || (site[0] & 0xf0) == 0x70;
	bool far = site[0] == 0xe8 || site[0] == 0xe9;
	bool far_condition = left >= 2 && site[0] == 0x0f && (site[1] & 0xf0) == 0x80;

	CHECK(push || (near && left >= 2) || (far && left >= 5) || (far_condition && left >= 6));
}

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Does the text of an instruction say that control goes elsewhere? Prefixes come first in it. */
static const char *jump_in(const cs_insn *insn)
{
	const char *last = strrchr(insn->mnemonic, ' ');
	const char *name = last ? last + 1 : insn->mnemonic;

	if (name[0] == 'j' || starts_with(name, "loop") || starts_with(name, "xbegin") ||
	    starts_with(name, "call") || starts_with(name, "ljmp") || starts_with(name, "lcall"))
		return name;
	return NULL;
}

static bool gives_up_frame(const cs_insn *insn)
{
	return starts_with(insn->mnemonic, "pop") || starts_with(insn->mnemonic, "leave") ||
	       (starts_with(insn->mnemonic, "add") && starts_with(insn->op_str, "rsp,"));
}

static void check_rest(const uint8_t *code, size_t size, const struct choice *choice)
{
	static uint8_t starts[SIZE_MAX_HERE], targets[SIZE_MAX_HERE];
	bool gave_up = false, leaves = false;
	cs_insn *insns = NULL;
	size_t count, i, end = 0;
	csh handle;

	CHECK(cs_open(CS_ARCH_X86, CS_MODE_64, &handle) == CS_ERR_OK);
	count = cs_disasm(handle, code, size, 0, 0, &insns);
	memset(starts, 0, size);
	memset(targets, 0, size);
	for (i = 0; i < count; i++) {
		const char *jump = jump_in(&insns[i]);
		char *rest = NULL;
		uint64_t target = strtoull(insns[i].op_str, &rest, 0);

		starts[insns[i].address] = 1;
		end = insns[i].address + insns[i].size;
		if (jump && *insns[i].op_str && !*rest) {
			CHECK(target == 0 || target > choice->offset);
			CHECK(target < size || insns[i].size >= 5 || starts_with(jump, "call"));
			leaves = leaves || (target >= size && !starts_with(jump, "call"));
			if (target < size)
				targets[target] = 1;
		} else if (jump && !strstr(jump, "call")) {
			CHECK(gave_up);
			CHECK(!targets[insns[i].address]);
		}
		gave_up = gives_up_frame(&insns[i]);
	}
	CHECK(end == size);
	CHECK(leaves == choice->leaves);
	for (i = 0; i < size; i++)
		CHECK(!targets[i] || starts[i]);
	if (insns)
		cs_free(insns, count);
	cs_close(&handle);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct choice_needs needs = { .features = probe_features_default() };
	struct choice choice;
	uint8_t *code;
	size_t size;

	if (length < 4)
		return 0;
	memset(buffer, 0, sizeof(buffer));
	size = code_make(data + 2, length - 2, buffer);
	needs.arguments = data[0] & 0x7e;
	needs.stack_pointer = data[1] & 1;
	/* Exactly as many bytes as there are, so that a read behind them is caught. */
	code = malloc(size ? size : 1);
	memcpy(code, buffer, size);
	choice_make(code, size, !(data[1] & 2), 0x1000, &needs, &choice);
	free(code);
	choice_made = choice;
	buffer_size = size;
	CHECK(memchr(choice.instruction, 0, sizeof(choice.instruction)));
	CHECK(memchr(choice.reason, 0, sizeof(choice.reason)));
	CHECK(*choice.reason);
	if (choice.offset == 0) {
		CHECK(!choice.leaves && choice.stack_bytes == 0);
		return 0;
	}
	CHECK(!(data[1] & 2) && choice.offset < size && choice.offset <= 64 + 15);
	CHECK(choice.cost == COST_EMULATED);
	check_site(buffer + choice.offset, size - choice.offset);
	check_way(buffer, &needs, &choice);
	check_rest(buffer, size, &choice);
	return 0;
}

#else

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct choice_needs needs = { .features = probe_features_default() };
	struct choice choice;

	choice_make(data, length, true, 0x1000, &needs, &choice);
	return choice.offset ? abort(), 0 : 0;
}

#endif
