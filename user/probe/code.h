/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine code of one function under the disassembler: what the choice of a site is made from. Internal to this
 * folder, and of x86-64 only.
 */
#ifndef PROBE_CODE_H
#define PROBE_CODE_H

#include <capstone/capstone.h>

#include "probe/choice.h"

struct code {
	csh handle;
	cs_insn *insn; /* the instruction decoded last */
	const uint8_t *bytes;
	size_t size;
	const struct choice_needs *needs;
	const char *refusal; /* a static string: why there is no site */
};

/* Returns 0, or a negative errno. Close with code_close. */
int code_open(struct code *code, const uint8_t *bytes, size_t size,
	      const struct choice_needs *needs);
void code_close(struct code *code);

/* Decode the instruction at `offset` into `insn`, as if the function was at address 0. */
bool code_decode(struct code *code, size_t offset);

/* An operand of `insn`, or NULL. */
const cs_x86_op *code_operand(const struct code *code, unsigned int index);

bool code_is_stack_pointer(unsigned int reg);

/*
 * Walk from the entry over instructions that keep what is read at the site, to the first one that the kernel emulates.
 * Returns its offset and how many bytes the stack has grown by there; 0, with a refusal, if there is none.
 */
size_t code_walk(struct code *code, uint32_t *ret_stack_bytes);

/*
 * Can nothing of the function run into the instruction at `site`, or into the way to it, but the entry itself? False
 * with a refusal. `ret_leaves`: the function has direct jumps to elsewhere.
 */
bool code_is_alone(struct code *code, size_t site, bool *ret_leaves);

#endif
