/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The choice of the probed instruction on code that nobody wrote: random bytes, sequences of common instructions, and
 * real functions with bytes changed. Every chosen site is checked against the rules by an oracle that shares nothing
 * with the program: on the way from the entry to the site it decodes by a table of its own, made from the processor's
 * manual; for the rest of the function it does the same as far as its tables reach, and reads the disassembler's text
instead of its operands.
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

#include "instruction_steps.h"
#include "instruction_sweep.h"

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

/* The tables of the oracle must reach through all code that compilers have written. */
static void real_check(void)
{
	size_t i, at;

	for (i = 0; i < real_count; i++) {
		memset(buffer, 0, sizeof(buffer));
		memcpy(buffer, real[i].code, real[i].size);
		buffer_size = real[i].size;
		for (at = 0; at < real[i].size; at += sweep_decode(buffer + at).length)
			CHECK(sweep_decode(buffer + at).kind != SWEEP_UNKNOWN);
		CHECK(at == real[i].size);
	}
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
	static const char *const names[] = { "glibc-2.31",     "glibc-2.35",   "glibc-2.36",
					     "glibc-2.41",     "musl-1.2.3",   "jemalloc-5.3.0",
					     "mimalloc-2.0.9", "tcmalloc-2.10" };
	char path[128];
	size_t i;

	(void)count;
	(void)arguments;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "tests/data/functions/%s.txt", names[i]);
		real_load(path);
	}
	real_check();
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

/* May control go from an instruction that ends at `end` to where it goes? */
static void check_step(const struct sweep_step *step, size_t end, size_t size, bool gave_up,
		       const struct choice *choice)
{
	uint64_t target = end + (uint64_t)step->distance;

	if (step->kind == SWEEP_INDIRECT)
		CHECK(gave_up);
	if (step->kind != SWEEP_JUMP && step->kind != SWEEP_CALL)
		return;
	CHECK(target == 0 || target > choice->offset);
	CHECK(step->kind == SWEEP_CALL || target < size || step->length >= 5);
	CHECK(step->kind == SWEEP_CALL || target < size || choice->leaves);
}

/* The rules for the rest of the function without a disassembler, as far as the tables reach. */
static void check_sweep(const uint8_t *code, size_t size, const struct choice *choice)
{
	static uint8_t starts[SIZE_MAX_HERE], targets[SIZE_MAX_HERE];
	bool gave_up = false;
	size_t at = 0, i;

	memset(starts, 0, size);
	memset(targets, 0, size);
	while (at < size) {
		struct sweep_step step = sweep_decode(code + at);
		uint64_t target = at + step.length + (uint64_t)step.distance;

		if (step.kind == SWEEP_UNKNOWN)
			break;
		CHECK(at + step.length <= size);
		check_step(&step, at + step.length, size, gave_up, choice);
		starts[at] = 1;
		if ((step.kind == SWEEP_JUMP || step.kind == SWEEP_CALL) && target < size)
			targets[target] = 1;
		gave_up = step.kind == SWEEP_EPILOGUE;
		at += step.length;
	}
	for (i = 0; i < at; i++)
		CHECK(!targets[i] || starts[i]);
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
	check_sweep(buffer, size, &choice);
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
