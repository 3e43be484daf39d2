/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of a function during the search for its exits. Internal to exits.c, exits_call.c and
 * exits_code.c.
 */
#ifndef PROBE_EXITS_PRIVATE_H
#define PROBE_EXITS_PRIVATE_H

#include "base/table.h"
#include "probe/effect.h"
#include "probe/exits.h"

/* What is certain at the start of an instruction, on all paths to it. */
struct exits_state {
	bool stack_known;
	int32_t stack; /* bytes by which the stack has grown since the entry */
	bool number_known;
	uint32_t number; /* in the register of results */
};

struct exits_step {
	uint64_t offset; /* in the file */
	struct flow flow;
	struct effect effect;
	struct exits_state state; /* before it */
	uint64_t target; /* of a jump: where it goes, in the file */
	bool jumps; /* to `target` */
	bool goes_on; /* continues behind it */
	bool is_target; /* target of a jump */
	bool is_exit; /* code behind it is not searched for other exits */
	bool returns_argument; /* it jumps to a function that returns its first argument */
	bool visited;
};

struct exits_code {
	struct elf_file *file;
	struct table places; /* file offset -> step */
	struct exits_step *steps;
	size_t count, capacity;
};

/* The instruction at a file offset; NULL if the function has none there. */
struct exits_step *exits_step_at(const struct exits_code *code, uint64_t offset);

/*
 * Visit every step reachable from a file offset, not continuing behind exits. Stops when `visit`
 * returns false, and returns its last result.
 */
bool exits_visit(struct exits_code *code, uint64_t from,
		 bool (*visit)(void *context, struct exits_step *step), void *context);

/* Add what lies behind the system calls `call` to `exits`, and mark as exits the steps that no other one may follow. */
void exits_add_calls(struct exits_code *code, const struct exits_call *call, struct exits *exits);

#endif
