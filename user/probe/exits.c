/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The search for return instructions: see exits.h. */
#include "probe/exits_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "elf/elf_plt.h"

/* Far more than any operator new has, with all it jumps to. */
#define INSTRUCTIONS_MAX 4000
/* More than a function has that does nothing but throw. */
#define INSTRUCTIONS_OF_THROWER_MAX 200
#define PENDING_MAX 256
/* How often an instruction is looked at, on average, since different things are known on different ways to it. */
#define LOOKS_MAX 8

/* Where code goes on. */
struct place {
	uint64_t offset;
	struct exits_state state;
};

struct search {
	struct exits_code code;
	struct flow_decoder decoder;
	size_t looks;
	bool inner; /* of a function that is called */
	uint64_t entry, size; /* of the function; size 0 = unknown */
	struct place pending[PENDING_MAX];
	size_t pending_count;
	const char *refusal;
};

static void search_refuse(struct search *search, const char *why)
{
	if (!search->refusal)
		search->refusal = why;
}

static void search_add_pending(struct search *search, uint64_t offset,
			       const struct exits_state *state)
{
	if (search->pending_count == PENDING_MAX)
		search_refuse(search, "it has too many branches");
	else
		search->pending[search->pending_count++] =
			(struct place){ .offset = offset, .state = *state };
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

static bool name_returns_argument(const char *name)
{
	return !strcmp(name, "memset") || !strcmp(name, "memcpy") || !strcmp(name, "memmove");
}

/* An indirect function by the place of what resolves it. */
struct resolved_code {
	uint64_t resolver;
	bool returns_argument;
};

static bool resolved_code_visit(void *context, const struct elf_function *function)
{
	struct resolved_code *code = context;

	if (function->indirect && function->file_offset == code->resolver &&
	    name_returns_argument(function->name))
		code->returns_argument = true;
	return !code->returns_argument;
}

/* Does a linkage table's entry lead to a function that returns its first argument? */
static bool entry_returns_argument(struct elf_file *file, uint64_t entry, const char *name)
{
	struct resolved_code code = { 0 };

	if (name)
		return name_returns_argument(name);
	if (elf_plt_resolver(file, entry, &code.resolver))
		elf_file_functions(file, resolved_code_visit, &code);
	return code.returns_argument;
}

bool exits_returns_argument(struct elf_file *file, uint64_t entry)
{
	char name[ELF_PLT_NAME_MAX];

	return entry_returns_argument(file, entry, elf_plt_name(file, entry, name) ? name : NULL);
}

/* A jump: to code of the file, or by way of the dynamic linker to a function that may be in the file. */
static void search_jump(struct search *search, struct exits_step *step)
{
	char name[ELF_PLT_NAME_MAX];
	struct named_code code = { .name = name };
	struct elf_file *file = search->code.file;
	bool named = elf_plt_name(file, step->flow.target, name);

	step->returns_argument =
		entry_returns_argument(file, step->flow.target, named ? name : NULL);
	step->jumps = !step->returns_argument;
	step->target = step->flow.target;
	if (!named || step->returns_argument)
		return;
	elf_file_functions(file, named_code_visit, &code);
	step->target = code.offset;
	if (!code.found)
		search_refuse(search, "it jumps to another file");
}

static void search_run(struct search *search, uint64_t entry);

static struct search *search_new(struct elf_file *file, size_t instructions_max)
{
	struct search *search = memory_alloc(1, sizeof(*search));

	search->code.file = file;
	search->code.capacity = instructions_max;
	search->code.steps = memory_alloc(instructions_max, sizeof(*search->code.steps));
	return search;
}

static bool step_returns(void *context, struct exits_step *step)
{
	(void)context;
	return step->flow.kind != FLOW_RETURN && !step->returns_argument;
}

static void search_free(struct search *search)
{
	flow_close(&search->decoder);
	table_free(&search->code.places);
	free(search->code.steps);
	free(search);
}

/* Does a function of the file never return, but throw? */
static bool search_throws(const struct search *search, uint64_t target)
{
	struct search *inner;
	bool throws;

	if (search->inner)
		return false;
	inner = search_new(search->code.file, INSTRUCTIONS_OF_THROWER_MAX);
	inner->inner = true;
	search_run(inner, target);
	throws = !inner->refusal && exits_visit(&inner->code, target, step_returns, NULL);
	search_free(inner);
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

/* Calls that do not come back. What is behind them is not the function's. */
static bool search_is_final_call(struct search *search, uint64_t target)
{
	struct final_code code = { .offset = target };
	char name[ELF_PLT_NAME_MAX];

	if (elf_plt_name(search->code.file, target, name))
		return name_is_final(name);
	elf_file_functions(search->code.file, final_code_visit, &code);
	return code.final || search_throws(search, target);
}

/* Is an instruction the function's last one? What is called there does not return: the next function is not run into. */
static bool search_ends_at(const struct search *search, const struct exits_step *step)
{
	return search->size && step->offset + step->flow.size == search->entry + search->size;
}

/* Where does the code go on after the decoded instruction? */
static void search_classify(struct search *search, struct exits_step *step)
{
	const struct flow *flow = &step->flow;

	switch (flow->kind) {
	case FLOW_RETURN:
	case FLOW_STOP:
		break;
	case FLOW_RETURN_UNPROBED:
		search_refuse(search, "it returns by an instruction that takes no probe");
		break;
	case FLOW_CALL:
		step->goes_on = !search_ends_at(search, step) &&
				(!flow->direct || !search_is_final_call(search, flow->target));
		break;
	case FLOW_JUMP:
	case FLOW_BRANCH:
		step->goes_on = flow->kind == FLOW_BRANCH;
		step->jumps = true;
		step->target = flow->target;
		if (!flow->direct)
			search_refuse(search, "a jump's target is unknown");
		else if (flow->kind == FLOW_JUMP)
			search_jump(search, step);
		break;
	default:
		step->goes_on = true;
	}
}

/* The instruction at an offset that was not looked at before. NULL, with a refusal, if there is none. */
static struct exits_step *search_decode(struct search *search, uint64_t offset)
{
	struct exits_code *code = &search->code;
	struct exits_step *step = code->steps + code->count;
	uint8_t bytes[FLOW_BYTES];
	size_t size = elf_file_read(code->file, offset, bytes, sizeof(bytes));

	if (code->count == code->capacity) {
		search_refuse(search, "it is too large");
		return NULL;
	}
	if (!flow_decode(&search->decoder, bytes, size, offset, &step->flow)) {
		search_refuse(search, "not all bytes of it decode");
		return NULL;
	}
	code->count++;
	step->offset = offset;
	step->effect = effect_of(&search->decoder);
	table_put(&code->places, offset, step);
	search_classify(search, step);
	return step;
}

/* Keep of what is known at a step what this way to it confirms. False if it is no news. */
static bool state_meet(struct exits_state *state, const struct exits_state *other)
{
	struct exits_state met = *state;

	met.stack_known = met.stack_known && other->stack_known && met.stack == other->stack;
	met.number_known = met.number_known && other->number_known && met.number == other->number;
	if (met.stack_known == state->stack_known && met.number_known == state->number_known)
		return false;
	*state = met;
	return true;
}

static struct exits_state state_behind(const struct exits_step *step)
{
	struct exits_state state = step->state;

	state.stack_known = state.stack_known && step->effect.stack_known &&
			    state.stack < INT32_MAX / 2 && state.stack > INT32_MIN / 2 &&
			    step->effect.stack < INT32_MAX / 2 &&
			    step->effect.stack > INT32_MIN / 2;
	if (state.stack_known)
		state.stack += step->effect.stack;
	if (step->effect.writes_result) {
		state.number_known = step->effect.has_number;
		state.number = step->effect.number;
	}
	return state;
}

/* Follow the code from a place to where it ends, or where nothing new is known. */
static void search_follow(struct search *search, struct place place)
{
	struct exits_step *step;

	do {
		step = exits_step_at(&search->code, place.offset);
		if (step && !state_meet(&step->state, &place.state))
			return;
		if (++search->looks > LOOKS_MAX * search->code.capacity)
			search_refuse(search, "it is too large");
		if (!step) {
			step = search_decode(search, place.offset);
			if (!step)
				return;
			step->state = place.state;
		}
		place = (struct place){ place.offset + step->flow.size, state_behind(step) };
		if (step->jumps)
			search_add_pending(search, step->target, &place.state);
	} while (step->goes_on && !search->refusal);
}

static void search_run(struct search *search, uint64_t entry)
{
	static const struct exits_state at_entry = { .stack_known = true };
	struct exits_step *step;
	const char *reason;
	size_t i;

	if (!flow_open(&search->decoder, &reason))
		search_refuse(search, reason);
	search_add_pending(search, entry, &at_entry);
	while (search->pending_count && !search->refusal)
		search_follow(search, search->pending[--search->pending_count]);
	for (i = 0; i < search->code.count && !search->refusal; i++) {
		step = exits_step_at(&search->code, search->code.steps[i].target);
		if (step && search->code.steps[i].jumps)
			step->is_target = true;
	}
}

static bool exits_add_return(void *context, struct exits_step *step)
{
	struct exits *exits = context;

	if (step->flow.kind != FLOW_RETURN && !step->returns_argument)
		return true;
	if (exits->count == EXITS_MAX) {
		exits->refusal = "it returns in too many places";
		return false;
	}
	exits->items[exits->count++] = (struct exit_site){
		.offset = step->offset,
		.in_argument = step->returns_argument,
	};
	return true;
}

bool exits_find(struct elf_file *file, uint64_t entry, uint64_t size, const struct exits_call *call,
		struct exits *ret_exits)
{
	struct search *search = search_new(file, INSTRUCTIONS_MAX);
	struct exits exits = { 0 };

	search->entry = entry;
	search->size = size;
	search_run(search, entry);
	exits.refusal = search->refusal;
	if (call && !exits.refusal)
		exits_add_calls(&search->code, call, &exits);
	if (!exits.refusal)
		exits_visit(&search->code, entry, exits_add_return, &exits);
	if (!exits.count && !exits.refusal)
		exits.refusal = "it never returns";
	search_free(search);
	*ret_exits = exits;
	return !exits.refusal;
}
