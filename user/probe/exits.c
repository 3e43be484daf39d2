/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The search for return instructions: see exits.h. */
#include "probe/exits.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "probe/flow.h"
#include "system/elf_plt.h"

/* Far more than any operator new has, with all it jumps to. */
#define INSTRUCTIONS_MAX 4000
/* More than a function has that does nothing but throw. */
#define INSTRUCTIONS_OF_THROWER_MAX 200
#define PENDING_MAX 256

struct search {
	struct elf_file *file;
	struct flow_decoder decoder;
	struct table seen; /* file offsets of decoded instructions */
	size_t decoded, decoded_max;
	bool inner; /* of a function that is called */
	uint64_t pending[PENDING_MAX]; /* where code goes on */
	size_t pending_count;
	struct exits exits;
};

static void search_refuse(struct search *search, const char *why)
{
	if (!search->exits.refusal)
		search->exits.refusal = why;
}

static void search_add_pending(struct search *search, uint64_t offset)
{
	if (search->pending_count == PENDING_MAX)
		search_refuse(search, "it has too many branches");
	else
		search->pending[search->pending_count++] = offset;
}

static void search_add_exit(struct search *search, uint64_t offset)
{
	if (search->exits.count == EXITS_MAX)
		search_refuse(search, "it returns in too many places");
	else
		search->exits.offsets[search->exits.count++] = offset;
}

/* A function of the file by its name. */
struct named_code {
	const char *name;
	uint64_t offset;
	bool found;
};

static bool named_code_visit(void *context, const struct elf_function *function)
{
	struct named_code *wanted = context;

	if (function->indirect || strcmp(function->name, wanted->name) != 0)
		return true;
	wanted->offset = function->file_offset;
	wanted->found = true;
	return false;
}

/* A jump: to code of the file, or by way of the dynamic linker to a function that may be in the file. */
static void search_jump(struct search *search, uint64_t target)
{
	char name[ELF_PLT_NAME_MAX];
	struct named_code code = { .name = name };

	if (!elf_plt_name(search->file, target, name)) {
		search_add_pending(search, target);
		return;
	}
	elf_file_functions(search->file, named_code_visit, &code);
	if (code.found)
		search_add_pending(search, code.offset);
	else
		search_refuse(search, "it jumps to another file");
}

static void search_run(struct search *search, uint64_t entry);

/* Does a function of the file never return, but throw? */
static bool search_throws(const struct search *search, uint64_t target)
{
	struct search *inner;
	bool throws;

	if (search->inner)
		return false;
	inner = memory_alloc(1, sizeof(*inner));
	inner->file = search->file;
	inner->decoded_max = INSTRUCTIONS_OF_THROWER_MAX;
	inner->inner = true;
	search_run(inner, target);
	throws = !inner->exits.count && !inner->exits.refusal;
	free(inner);
	return throws;
}

static bool name_is_final(const char *name)
{
	static const char *const names[] = { "__cxa_throw", "__cxa_rethrow",	"_Unwind_Resume",
					     "abort",	    "__stack_chk_fail", "exit",
					     "_exit",	    "_ZSt9terminatev" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return strncmp(name, "_ZSt", 4) == 0 && strstr(name, "__throw_");
}

/* Has a function of the file one of these names? */
struct final_code {
	uint64_t offset;
	bool final;
};

static bool final_code_visit(void *context, const struct elf_function *function)
{
	struct final_code *code = context;

	if (function->file_offset == code->offset && name_is_final(function->name))
		code->final = true;
	return !code->final;
}

/* Calls that do not come back. What stands behind them is not the function's. */
static bool search_is_final_call(struct search *search, uint64_t target)
{
	struct final_code code = { .offset = target };
	char name[ELF_PLT_NAME_MAX];

	if (elf_plt_name(search->file, target, name))
		return name_is_final(name);
	elf_file_functions(search->file, final_code_visit, &code);
	return code.final || search_throws(search, target);
}

/* Handle the decoded instruction, which stands at `offset`. Does the code go on behind it? */
static bool search_instruction(struct search *search, uint64_t offset, const struct flow *flow)
{
	switch (flow->kind) {
	case FLOW_RETURN:
		search_add_exit(search, offset);
		return false;
	case FLOW_RETURN_UNPROBED:
		search_refuse(search, "it returns by an instruction that takes no probe");
		return false;
	case FLOW_STOP:
		return false;
	case FLOW_CALL:
		return !flow->direct || !search_is_final_call(search, flow->target);
	case FLOW_JUMP:
	case FLOW_BRANCH:
		if (!flow->direct)
			search_refuse(search, "it jumps to where cannot be told");
		else if (flow->kind == FLOW_JUMP)
			search_jump(search, flow->target);
		else
			search_add_pending(search, flow->target);
		return flow->kind == FLOW_BRANCH;
	default:
		return true;
	}
}

/* Follow the code from an offset to where it ends or has been seen already. */
static void search_follow(struct search *search, uint64_t offset)
{
	uint8_t bytes[FLOW_BYTES];
	struct flow flow;
	size_t size;

	do {
		if (table_get(&search->seen, offset))
			return;
		table_put(&search->seen, offset, search);
		size = elf_file_read(search->file, offset, bytes, sizeof(bytes));
		if (++search->decoded > search->decoded_max) {
			search_refuse(search, "it is too large");
		} else if (!flow_decode(&search->decoder, bytes, size, offset, &flow)) {
			search_refuse(search, "not all bytes of it decode");
		} else if (search_instruction(search, offset, &flow)) {
			offset += flow.size;
			continue;
		}
		return;
	} while (!search->exits.refusal);
}

static void search_run(struct search *search, uint64_t entry)
{
	const char *reason;

	if (!flow_open(&search->decoder, &reason))
		search_refuse(search, reason);
	search_add_pending(search, entry);
	while (search->pending_count && !search->exits.refusal)
		search_follow(search, search->pending[--search->pending_count]);
	flow_close(&search->decoder);
	table_free(&search->seen);
}

bool exits_find(struct elf_file *file, uint64_t entry, struct exits *ret_exits)
{
	struct search *search = memory_alloc(1, sizeof(*search));

	search->file = file;
	search->decoded_max = INSTRUCTIONS_MAX;
	search_run(search, entry);
	if (!search->exits.count)
		search_refuse(search, "it never returns");
	*ret_exits = search->exits;
	free(search);
	return !ret_exits->refusal;
}
