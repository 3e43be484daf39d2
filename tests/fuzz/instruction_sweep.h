/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The oracle's own sweep over a whole function of fuzz_choice.c: lengths of instructions, and which of them are jumps,
 * from tables made from the processor's manual. No disassembler takes part. Of what compilers hardly ever write
 * (prefixes in odd places, 3DNow!, XOP) nothing is known; the sweep ends there.
 */
#ifndef TESTS_INSTRUCTION_SWEEP_H
#define TESTS_INSTRUCTION_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum sweep_kind {
	SWEEP_UNKNOWN,
	SWEEP_PLAIN,
	SWEEP_JUMP, /* to a fixed target */
	SWEEP_CALL, /* likewise */
	SWEEP_INDIRECT, /* to anywhere, and does not come back */
	SWEEP_EPILOGUE, /* gives up the stack frame: pop, leave, add to the stack pointer */
};

struct sweep_step {
	enum sweep_kind kind;
	size_t length;
	int64_t distance; /* of the target, from the end */
};

/*
 * What follows an opcode: m = ModRM, b = 1 byte, w = 2, z = 4 (2 with 0x66), v = as z, 8 with REX.W, e = 3 bytes of enter, j = a
 * jump's 1 byte, J = its 4, c = a call's 4, M = ModRM and 1 byte, Z = ModRM and z, t = ModRM and, for test, 1 byte, T = likewise z,
 * . = nothing, ? = not known.
 */
static const char sweep_one_byte[] = "mmmmbz??mmmmbz??" /* 00 */
				     "mmmmbz??mmmmbz??" /* 10 */
				     "mmmmbz??mmmmbz??" /* 20 */
				     "mmmmbz??mmmmbz??" /* 30 */
				     "????????????????" /* 40: REX */
				     "................" /* 50 */
				     "???m????zZbM...." /* 60 */
				     "jjjjjjjjjjjjjjjj" /* 70 */
				     "MZ?Mmmmmmmmmmmm?" /* 80 */
				     "..........?....." /* 90 */
				     "????....bz......" /* a0 */
				     "bbbbbbbbvvvvvvvv" /* b0 */
				     "MMw.??MZe.w..b?." /* c0 */
				     "mmmm???.mmmmmmmm" /* d0 */
				     "jjjjbbbbcJ?j...." /* e0 */
				     "?.?...tT......mm"; /* f0 */

static const char sweep_two_bytes[] = "mmmm?.....?.?m??" /* 00 */
				      "mmmmmmmmmmmmmmmm" /* 10 */
				      "????????mmmmmmmm" /* 20 */
				      "......?.????????" /* 30: 38 and 3a are apart */
				      "mmmmmmmmmmmmmmmm" /* 40 */
				      "mmmmmmmmmmmmmmmm" /* 50 */
				      "mmmmmmmmmmmmmmmm" /* 60 */
				      "MMMMmmm.????mmmm" /* 70 */
				      "JJJJJJJJJJJJJJJJ" /* 80 */
				      "mmmmmmmmmmmmmmmm" /* 90 */
				      "...mMm??..?mMmmm" /* a0 */
				      "mmmmmmmmmmMmmmmm" /* b0 */
				      "mmMmMMMm........" /* c0 */
				      "mmmmmmmmmmmmmmmm" /* d0 */
				      "mmmmmmmmmmmmmmmm" /* e0 */
				      "mmmmmmmmmmmmmmm?"; /* f0 */

_Static_assert(sizeof(sweep_one_byte) == 257 && sizeof(sweep_two_bytes) == 257, "256 opcodes");

struct sweep_reader {
	const uint8_t *code;
	size_t at;
	bool operand_size, wide, extended; /* 0x66, REX.W, REX.B */
	bool prefixed; /* by anything but REX and a segment */
};

/* Bytes of ModRM, SIB and displacement. */
static size_t sweep_modrm(const uint8_t *modrm)
{
	unsigned int mode = modrm[0] >> 6, rm = modrm[0] & 7;
	size_t length = 1;

	if (mode == 3)
		return length;
	if (rm == 4) {
		length++;
		if (mode == 0 && (modrm[1] & 7) == 5)
			length += 4;
	} else if (mode == 0 && rm == 5) {
		length += 4;
	}
	return length + (mode == 1 ? 1 : mode == 2 ? 4 : 0);
}

/* The prefixes as assemblers write them: those that pad a nop come first. */
static void sweep_prefixes(struct sweep_reader *reader)
{
	const uint8_t *code = reader->code;

	while (code[reader->at] == 0x66 && reader->at < 8) {
		reader->operand_size = true;
		reader->prefixed = true;
		reader->at++;
	}
	if (memchr("\x2e\x3e\x64\x65", code[reader->at], 4))
		reader->at++;
	if (memchr("\xf0\xf2\xf3", code[reader->at], 3)) {
		reader->prefixed = true;
		reader->at++;
	}
	if ((code[reader->at] & 0xf0) == 0x40) {
		reader->wide = code[reader->at] & 8;
		reader->extended = code[reader->at++] & 1;
	}
}

/* Bytes behind an opcode, by its letter; 0 with `*ret_known` unset if that is not known. */
static size_t sweep_operands(const struct sweep_reader *reader, char letter, bool *ret_known)
{
	const uint8_t *next = reader->code + reader->at;
	size_t z = reader->operand_size && !reader->wide ? 2 : 4;
	bool tests = (*next >> 3 & 7) < 2;

	*ret_known = letter != '?';
	switch (letter) {
	case 'm':
		return sweep_modrm(next);
	case 'M':
		return sweep_modrm(next) + 1;
	case 'Z':
		return sweep_modrm(next) + z;
	case 't':
		return sweep_modrm(next) + (tests ? 1 : 0);
	case 'T':
		return sweep_modrm(next) + (tests ? z : 0);
	case 'b':
	case 'j':
		return 1;
	case 'w':
		return 2;
	case 'e':
		return 3;
	case 'z':
		return z;
	case 'v':
		return reader->wide ? 8 : z;
	case 'J':
	case 'c':
		return 4;
	default:
		return 0;
	}
}

/* VEX and EVEX: no jumps, always ModRM but for vzeroupper. */
static struct sweep_step sweep_vector(const uint8_t *code, size_t at)
{
	unsigned int map = code[at] == 0xc5 ? 1 : code[at + 1] & (code[at] == 0x62 ? 7 : 31);
	size_t opcode = at + (code[at] == 0xc5 ? 2 : code[at] == 0xc4 ? 3 : 4);
	struct sweep_step step = { .kind = SWEEP_PLAIN };
	char letter = map == 1 ? sweep_two_bytes[code[opcode]] : map == 2 ? 'm' : 'M';

	if (map < 1 || map > 3 || at > 0 || !strchr("mM.", letter))
		return (struct sweep_step){ .kind = SWEEP_UNKNOWN };
	step.length = opcode + 1;
	if (letter != '.')
		step.length += sweep_modrm(code + opcode + 1) + (letter == 'M' ? 1 : 0);
	return step;
}

static enum sweep_kind sweep_kind_of(const struct sweep_reader *reader, uint8_t opcode)
{
	uint8_t next = reader->code[reader->at];

	if (opcode == 0xff && (next >> 3 & 7) >= 4 && (next >> 3 & 7) <= 5)
		return SWEEP_INDIRECT;
	if ((opcode & 0xf8) == 0x58 || opcode == 0xc9 || (opcode == 0x8f && !(next & 0x38)))
		return SWEEP_EPILOGUE;
	/* add $n,%rsp, in both lengths */
	if ((opcode == 0x83 || opcode == 0x81) && next == 0xc4 && !reader->extended)
		return SWEEP_EPILOGUE;
	return SWEEP_PLAIN;
}

static struct sweep_step sweep_opcode(struct sweep_reader *reader)
{
	struct sweep_step step = { .kind = SWEEP_UNKNOWN };
	uint8_t opcode = reader->code[reader->at++];
	char letter = sweep_one_byte[opcode];
	bool known, one_byte = opcode != 0x0f;
	int8_t near;
	int32_t far;

	if (!one_byte) {
		opcode = reader->code[reader->at++];
		letter = sweep_two_bytes[opcode];
		if (opcode == 0x38 || opcode == 0x3a) {
			letter = opcode == 0x38 ? 'm' : 'M';
			reader->at++;
		}
	}
	step.length = reader->at + sweep_operands(reader, letter, &known);
	if (!known || (strchr("jJc", letter) && reader->prefixed))
		return (struct sweep_step){ .kind = SWEEP_UNKNOWN };
	step.kind = one_byte ? sweep_kind_of(reader, opcode) : SWEEP_PLAIN;
	if (!strchr("jJc", letter))
		return step;
	step.kind = letter == 'c' ? SWEEP_CALL : SWEEP_JUMP;
	memcpy(&near, reader->code + reader->at, sizeof(near));
	memcpy(&far, reader->code + reader->at, sizeof(far));
	step.distance = letter == 'j' ? near : far;
	return step;
}

/* The instruction at `code`, behind which there are at least 16 readable bytes. */
static struct sweep_step sweep_decode(const uint8_t *code)
{
	struct sweep_reader reader = { .code = code };

	sweep_prefixes(&reader);
	if (memchr("\x62\xc4\xc5", code[reader.at], 3))
		return sweep_vector(code, reader.at);
	/* xbegin is a jump that looks like a mov. */
	if (code[reader.at] == 0xc7 && code[reader.at + 1] == 0xf8)
		return (struct sweep_step){ .kind = SWEEP_UNKNOWN };
	return sweep_opcode(&reader);
}

#endif
