/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the result of a system call can be read behind it. The C library's functions compare it next and jump where it is an
 * error, or call what makes a status of it: the kernel emulates such jumps and calls.
 */
#include "probe/exits_private.h"

/* Instructions behind the system call that are searched for one that the kernel can emulate. */
#define BEHIND_MAX 4
/* The call shape has room for so much. */
#define STACK_MAX 255
#define WORD 8

static bool step_is_call(const struct exits_step *step, const struct exits_call *call)
{
	return step->effect.is_system_call && step->state.number_known &&
	       step->state.number == call->number;
}

static enum probe_cost step_cost(const struct exits_code *code, const struct exits_step *step,
				 const struct exits_call *call)
{
	uint8_t bytes[FLOW_BYTES];

	if (elf_file_read(code->file, step->offset, bytes, sizeof(bytes)) < step->flow.size)
		return COST_UNKNOWN;
	return trap_cost(bytes, step->flow.size, step->offset, &call->features);
}

static bool step_takes_probe(const struct exits_step *step)
{
	return step->state.stack_known && step->state.stack >= 0 &&
	       step->state.stack <= STACK_MAX && step->state.stack % WORD == 0;
}

/*
 * The instruction where the result of the system call at `call_step` is read: one that only this call leads to, with the
 * result still in its register. The first that need not be single-stepped, or else the first. NULL if there is none.
 */
static struct exits_step *exits_behind(const struct exits_code *code,
				       const struct exits_step *call_step,
				       const struct exits_call *call)
{
	struct exits_step *first = NULL, *step;
	uint64_t offset = call_step->offset + call_step->flow.size;
	enum probe_cost cost;
	int i;

	for (i = 0; i < BEHIND_MAX; i++) {
		step = exits_step_at(code, offset);
		if (!step || step->is_target || !step_takes_probe(step))
			break;
		cost = step_cost(code, step, call);
		if (cost == COST_EMULATED && step->flow.kind != FLOW_ON)
			return step;
		if (!first && cost == COST_STEPPED)
			first = step;
		if (step->flow.kind != FLOW_ON || step->effect.writes_result)
			break;
		offset += step->flow.size;
	}
	return first;
}

/* Is there a system call that may be the same once more? */
static bool step_is_other(void *context, struct exits_step *step)
{
	const struct exits_call *call = context;

	return !step->effect.is_system_call ||
	       (step->state.number_known && step->state.number != call->number);
}

void exits_add_calls(struct exits_code *code, const struct exits_call *call, struct exits *exits)
{
	struct exits_call wanted = *call;
	struct exits_step *site;
	size_t i, first = exits->count;

	for (i = 0; i < code->count && exits->count < EXITS_MAX; i++) {
		if (!step_is_call(&code->steps[i], call))
			continue;
		site = exits_behind(code, &code->steps[i], call);
		if (!site)
			continue;
		exits->items[exits->count++] = (struct exit_site){
			.offset = site->offset,
			.stack_bytes = (uint32_t)site->state.stack,
			.behind_call = true,
			.retried = !exits_visit(code, site->offset, step_is_other, &wanted),
		};
	}
	for (i = first; i < exits->count; i++)
		exits_step_at(code, exits->items[i].offset)->is_exit = !exits->items[i].retried;
}
