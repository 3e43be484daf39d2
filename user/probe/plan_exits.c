/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of the plan that is about where results of functions are read. */
#include <linux/types.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/memory.h"
#include "probe/choice.h"
#include "probe/exits.h"
#include "probe/flow.h"
#include "probe/plan_private.h"
#include "tracer_abi.h"

/* The system call of a mapping function. False if the function is none. */
static bool exits_call_of(const struct plan *plan, uint64_t shape, struct exits_call *ret_call)
{
	*ret_call = (struct exits_call){ .features = plan->options.features };
	switch (SHAPE_OP(shape)) {
	case CALL_MMAP:
		ret_call->number = SYS_mmap;
		return true;
	case CALL_MUNMAP:
		ret_call->number = SYS_munmap;
		return true;
	case CALL_MREMAP:
		ret_call->number = SYS_mremap;
		return true;
	}
	return false;
}

static bool shape_has_result(uint64_t shape)
{
	enum call_op op = SHAPE_OP(shape);

	return op == CALL_ALLOC || op == CALL_REALLOC || (op >= CALL_MMAP && op <= CALL_MREMAP);
}

static void plan_add_exit(struct plan *plan, uint32_t module, struct elf_file *file,
			  const struct exit_site *exit, const struct scan_function *function)
{
	enum call_result result = exit->retried ? RESULT_RETRIED : RESULT_POINTER;
	struct choice_needs needs = { .features = plan->options.features };
	struct choice choice = { 0 };
	uint8_t code[FLOW_BYTES];
	size_t size = elf_file_read(file, exit->offset, code, sizeof(code));
	uint64_t address = exit->offset;
	struct plan_probe *probe;

	elf_file_offset_to_address(file, exit->offset, &address);
	choice_fall_back(code, size, address, &needs, "", &choice);
	plan->probes =
		memory_grow(plan->probes, plan->count, &plan->capacity, sizeof(*plan->probes));
	probe = &plan->probes[plan->count++];
	*probe = (struct plan_probe){
		.module = module,
		.symbol = exit->behind_call ? "(result)" : "(return)",
		.shape = SHAPE(CALL_LEAVE, 0, 0, exit->in_argument, result, SOURCE_HEAP),
		.entry_offset = exit->offset,
		.site_offset = exit->offset,
		.stack_bytes = exit->stack_bytes,
		.cost = choice.cost,
	};
	snprintf(probe->instruction, sizeof(probe->instruction), "%s",
		 *choice.instruction ? choice.instruction : FLOW_RETURN_NAME);
	snprintf(probe->reason, sizeof(probe->reason), "of %.60s%s", function->row->symbol,
		 exit->behind_call ? ", behind its system call" : "");
}

/* The exit that is probed there already, for another function; NULL if there is none. */
static const struct plan_probe *plan_probe_at(const struct plan *plan, uint32_t module,
					      uint64_t offset)
{
	size_t i;

	for (i = 0; i < plan->count; i++)
		if (plan->probes[i].module == module && plan->probes[i].site_offset == offset)
			return &plan->probes[i];
	return NULL;
}

/* May a function share the probe that is where it has an exit? */
static bool exit_is_shared(const struct plan_probe *probe, const struct exit_site *exit)
{
	return SHAPE_OP(probe->shape) == CALL_LEAVE && probe->stack_bytes == exit->stack_bytes &&
	       !SHAPE_PTR_ARG(probe->shape) == !exit->in_argument &&
	       (SHAPE_RESULT(probe->shape) == RESULT_RETRIED) == exit->retried;
}

/* The exits of a function, none of which is where something else is probed. NULL, or the reason why they cannot be probed. */
static const char *plan_find_exits(const struct plan *plan, uint32_t module, struct elf_file *file,
				   const struct scan_function *function, struct exits *ret_exits)
{
	const struct plan_probe *probe;
	struct exits_call call;
	bool calls = exits_call_of(plan, function->row->shape, &call);
	size_t i;

	if (!exits_find(file, function->file_offset, function->size, calls ? &call : NULL,
			ret_exits))
		return ret_exits->refusal;
	for (i = 0; i < ret_exits->count; i++) {
		probe = plan_probe_at(plan, module, ret_exits->items[i].offset);
		if (probe && !exit_is_shared(probe, &ret_exits->items[i]))
			return "another probe stands where it returns";
	}
	return NULL;
}

enum plan_reading plan_add_exits(struct plan *plan, uint32_t module, struct elf_file *file,
				 const struct scan_function *function, const char *walker)
{
	uint64_t shape = function->row->shape;
	bool throws = SHAPE_RESULT(shape) == RESULT_POINTER_OR_THROWS;
	bool must = plan_avoids_returns(plan) || walker || throws;
	struct exits exits;
	/* What a walker has mapped is seen where the C library maps it. */
	bool lost = !walker || SHAPE_SOURCE(shape) != SOURCE_MMAP;
	const char *refusal;
	size_t i;

	if (!shape_has_result(shape))
		return READ_AT_ENTRY;
	if (!must && SHAPE_SOURCE(shape) != SOURCE_MMAP && !(shape & SHAPE_NAMED))
		return READ_AT_RETURN;
	refusal = plan_find_exits(plan, module, file, function, &exits);
	if (refusal && !must) {
		plan_skip(plan, module, false, "%s is probed by its return: %s",
			  function->row->symbol, refusal);
		return READ_AT_RETURN;
	}
	if (refusal) {
		plan_skip(plan, module, lost,
			  "%s %s, so its return cannot be probed, nor can its "
			  "return instructions: %s",
			  function->row->symbol,
			  throws			   ? "may throw"
			  : walker || plan->walker	   ? "is where a stack is walked"
			  : plan->options.no_return_probes ? "is to have no return probe"
							   : "may be called on several stacks",
			  refusal);
		return READ_NOWHERE;
	}
	for (i = 0; i < exits.count; i++)
		if (!plan_probe_at(plan, module, exits.items[i].offset))
			plan_add_exit(plan, module, file, &exits.items[i], function);
	return READ_AT_EXITS;
}
