/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The oracle's own decoder of fuzz_choice.c, made from the processor's manual: the few instructions that a site may lie
 * behind, how long they are, and which register or memory they write. Anything else breaks a rule; the includer defines
 * CHECK(condition), which ends the program.
 */
#ifndef TESTS_INSTRUCTION_STEPS_H
#define TESTS_INSTRUCTION_STEPS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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

#endif
