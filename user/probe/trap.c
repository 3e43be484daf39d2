/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a trap costs: see trap.h.
 *
 * The table follows arch/x86/kernel/uprobes.c of Linux, where arch_uprobe_analyze_insn asks in this order:
 * - is_prefix_bad: instructions with an es, cs, ss, ds or lock prefix cannot be probed at all;
 * - branch_setup_xol_ops (since 3.16): call and jmp with a 32-bit displacement, jmp and conditional jumps with
 *   an 8-bit or 32-bit one, and the one-byte nop are emulated; an operand size prefix (0x66) on a branch is
 *   refused. Nops of two bytes and more since 6.16; before, they are stepped or, as 66 90, refused;
 * - can_optimize (since 6.18): a five-byte nop that does not cross a page becomes a call;
 * - push_setup_xol_ops (since 5.0): push of a register, of one byte or with the prefix 0x41, is emulated;
 * - everything else is single-stepped out of line.
 */
#include "probe/trap.h"

#include <stdio.h>
#include <sys/utsname.h>

struct probe_features probe_features_default(void)
{
	return probe_features_for_kernel(5, 10);
}

struct probe_features probe_features_for_kernel(unsigned int major, unsigned int minor)
{
	struct probe_features features = { 0 };

#if defined(__x86_64__)
	unsigned int version = major << 16 | minor;

	features.emulates_push = version >= (5 << 16);
	features.emulates_branch = version >= (3 << 16 | 16);
	features.emulates_nop = features.emulates_branch;
	features.emulates_long_nop = version >= (6 << 16 | 16);
	features.optimizes_nop5 = version >= (6 << 16 | 18);
#else
	(void)major;
	(void)minor;
#endif
	return features;
}

struct probe_features probe_features_running(void)
{
	unsigned int major, minor;
	struct utsname name;

	if (uname(&name) || sscanf(name.release, "%u.%u", &major, &minor) != 2)
		return probe_features_default();
	return probe_features_for_kernel(major, minor);
}

const char *probe_cost_name(enum probe_cost cost)
{
	switch (cost) {
	case COST_EMULATED:
		return "emulated";
	case COST_STEPPED:
		return "single-stepped";
	case COST_OPTIMIZED:
		return "optimized";
	case COST_UNKNOWN:
		break;
	}
	return "unknown";
}

#if defined(__x86_64__)

#define PAGE_BYTES 4096

/* The parts of an instruction that decide. */
struct parts {
	bool refused; /* a prefix that uprobes do not accept */
	bool operand_size; /* 0x66 */
	uint8_t rex; /* 0 = none */
	size_t prefixes; /* bytes before the opcode, REX included */
};

static struct parts trap_split(const uint8_t *code, size_t length)
{
	struct parts parts = { 0 };
	size_t at;

	for (at = 0; at < length; at++) {
		switch (code[at]) {
		case 0x26: /* es */
		case 0x2e: /* cs */
		case 0x36: /* ss */
		case 0x3e: /* ds */
		case 0xf0: /* lock */
			parts.refused = true;
			continue;
		case 0x66:
			parts.operand_size = true;
			continue;
		case 0x64: /* fs */
		case 0x65: /* gs */
		case 0x67: /* address size */
		case 0xf2: /* repne, bnd */
		case 0xf3: /* rep */
			continue;
		}
		break;
	}
	if (at < length && (code[at] & 0xf0) == 0x40)
		parts.rex = code[at++];
	parts.prefixes = at;
	return parts;
}

static bool trap_is_push(const uint8_t *code, size_t length)
{
	if (length == 1)
		return (code[0] & 0xf8) == 0x50;
	return length == 2 && code[0] == 0x41 && (code[1] & 0xf8) == 0x50;
}

static bool trap_is_branch(const uint8_t *opcode, size_t length)
{
	if (length == 2)
		return opcode[0] == 0xeb || (opcode[0] & 0xf0) == 0x70;
	if (length == 5)
		return opcode[0] == 0xe8 || opcode[0] == 0xe9;
	return length == 6 && opcode[0] == 0x0f && (opcode[1] & 0xf0) == 0x80;
}

static bool trap_is_long_nop(const uint8_t *opcode, size_t length)
{
	return length >= 3 && opcode[0] == 0x0f && opcode[1] == 0x1f && (opcode[2] & 0x38) == 0;
}

static enum probe_cost trap_nop_cost(size_t length, uint64_t address,
				     const struct probe_features *features)
{
	if (length == 1)
		return features->emulates_nop ? COST_EMULATED : COST_STEPPED;
	if (length == 5 && features->optimizes_nop5 && address % PAGE_BYTES <= PAGE_BYTES - 5)
		return COST_OPTIMIZED;
	return features->emulates_long_nop && length <= 9 ? COST_EMULATED : COST_STEPPED;
}

enum probe_cost trap_cost(const uint8_t *instruction, size_t length, uint64_t address,
			  const struct probe_features *features)
{
	struct parts parts = trap_split(instruction, length);
	const uint8_t *opcode = instruction + parts.prefixes;
	size_t rest = length - parts.prefixes;

	if (parts.refused || rest == 0)
		return COST_UNKNOWN;
	if (trap_is_push(instruction, length))
		return features->emulates_push ? COST_EMULATED : COST_STEPPED;
	/* With REX.B, 0x90 is xchg %r8,%rax. */
	if ((rest == 1 && opcode[0] == 0x90 && !(parts.rex & 1)) || trap_is_long_nop(opcode, rest))
		return trap_nop_cost(length, address, features);
	if (trap_is_branch(opcode, rest)) {
		if (parts.operand_size)
			return COST_UNKNOWN;
		return features->emulates_branch ? COST_EMULATED : COST_STEPPED;
	}
	return COST_STEPPED;
}

#else

enum probe_cost trap_cost(const uint8_t *instruction, size_t length, uint64_t address,
			  const struct probe_features *features)
{
	(void)instruction;
	(void)length;
	(void)address;
	(void)features;
	return COST_UNKNOWN;
}

#endif
