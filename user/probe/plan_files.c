/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What files add to the plan: a candidate for each function, and the choice of its place. */
#include "probe/plan_private.h"

#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/units.h"
#include "probe/calls.h"
#include "probe/choice.h"
#include "probe/landing.h"
#include "elf/elf_plt.h"
#include "tracer_abi.h"

/* Enough to decode the first instruction of a function of unknown size. */
#define ENTRY_BYTES 32

/* What one file adds: a candidate per function, with the code it was judged by. */
struct candidate {
	const struct scan_function *function;
	const struct allocator_function *name; /* as the reports call it */
	uint8_t *code;
	size_t code_size;
	uint64_t address;
	struct choice_needs needs;
	struct choice choice;
	/* The target's name, of a stub by way of the dynamic linker; "" = none. */
	char jumps_to[ELF_PLT_NAME_MAX];
	bool dropped;
	bool comes_back; /* to its entry, by itself */
	const char *walker; /* what walks the stack inside it; NULL = nothing that is known */
	enum plan_reading reading;
};

static void candidate_choose(struct candidate *candidate, struct elf_file *file,
			     const struct plan_options *options)
{
	const struct scan_function *function = candidate->function;
	bool complete = function->size && function->size <= CHOICE_SIZE_MAX;
	size_t want = complete && function->size > ENTRY_BYTES ? function->size : ENTRY_BYTES;
	size_t size;

	candidate->code = memory_alloc(want, 1);
	candidate->code_size = elf_file_read(file, function->file_offset, candidate->code, want);
	if (!elf_file_offset_to_address(file, function->file_offset, &candidate->address))
		candidate->address = function->file_offset;
	size = candidate->code_size;
	if (complete && size > function->size)
		size = function->size;
	complete = complete && size == function->size;
	candidate->needs = (struct choice_needs){
		.arguments = allocator_arguments(function->row->shape),
		.stack_pointer = !(options->free_without_stack &&
				   SHAPE_OP(function->row->shape) == CALL_FREE),
		/* Once it has ended, nothing is hit any more. */
		.at_entry = options->at_entry || SHAPE_OP(function->row->shape) == CALL_PROCESS_END,
		.features = options->features,
	};
	choice_make(candidate->code, size, complete, candidate->address, &candidate->needs,
		    &candidate->choice);
	if (candidate->choice.stub)
		elf_plt_name(file, function->file_offset + (uint64_t)candidate->choice.stub_target,
			     candidate->jumps_to);
	candidate->comes_back = SHAPE_OP(function->row->shape) == CALL_FREE &&
				calls_itself(file, function->file_offset, candidate->code, size);
}

static void candidate_fall_back(struct candidate *candidate, const char *reason)
{
	choice_fall_back(candidate->code, candidate->code_size, candidate->address,
			 &candidate->needs, reason, &candidate->choice);
}

/* Give up the cheaper sites that a part of their function, placed elsewhere, could jump behind. */
static void candidates_check_landings(struct candidate *candidates, size_t count,
				      struct elf_file *file)
{
	struct landing *landings = memory_alloc(count, sizeof(*landings));
	size_t i, used = 0;

	for (i = 0; i < count; i++)
		if (candidates[i].choice.leaves)
			landings[used++] = (struct landing){
				.first = candidates[i].function->file_offset + 1,
				.last = candidates[i].function->file_offset +
					candidates[i].choice.offset,
			};
	landing_search(file, landings, used);
	for (i = 0, used = 0; i < count; i++) {
		if (!candidates[i].choice.leaves)
			continue;
		if (landings[used].found || !landings[used].searched)
			candidate_fall_back(&candidates[i],
					    "code elsewhere may jump to before a cheaper one");
		used++;
	}
	free(landings);
}

/* Do two functions mean the same? Frees do whether or not they call another one. */
static bool shape_is_same(uint64_t left, uint64_t right)
{
	if (SHAPE_OP(left) == CALL_FREE && SHAPE_OP(right) == CALL_FREE)
		return SHAPE_PTR_ARG(left) == SHAPE_PTR_ARG(right);
	return left == right;
}

static bool candidate_is_target(const struct candidate *from, const struct candidate *candidate)
{
	const struct scan_function *function = candidate->function;

	if (!from->choice.stub || !shape_is_same(function->row->shape, from->function->row->shape))
		return false;
	if (*from->jumps_to)
		return scan_function_has_name(function, from->jumps_to);
	return function->file_offset ==
	       from->function->file_offset + (uint64_t)from->choice.stub_target;
}

/*
 * The candidate that a stub jumps to, or NULL. Where the dynamic linker finds the function in another file, it is
 * probed there.
 */
static struct candidate *candidate_stub_target(const struct candidate *from,
					       struct candidate *candidates, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (candidate_is_target(from, &candidates[i]))
			return &candidates[i];
	return NULL;
}

/* Where a chain of stubs ends; NULL if the candidate is no stub of another one, or the chain is a circle. */
static struct candidate *candidate_resolve(struct candidate *from, struct candidate *candidates,
					   size_t count)
{
	struct candidate *target = candidate_stub_target(from, candidates, count), *next;
	size_t steps;

	for (steps = 0; target && steps < count; steps++) {
		next = candidate_stub_target(target, candidates, count);
		if (!next)
			return target == from ? NULL : target;
		target = next;
	}
	return NULL;
}

static void plan_drop_stubs(struct plan *plan, uint32_t module, struct candidate *candidates,
			    size_t count)
{
	struct candidate *target;
	size_t i;

	for (i = 0; i < count; i++) {
		struct candidate *stub = &candidates[i];

		if (stub->dropped)
			continue;
		target = candidate_resolve(stub, candidates, count);
		if (!target || target->dropped)
			continue;
		stub->dropped = true;
		plan_skip(plan, module, false, "%s only jumps to %s, which is probed",
			  stub->function->row->symbol, target->function->row->symbol);
		if (stub->name < target->name)
			target->name = stub->name;
	}
}

/* A C++ operator, and where it may be found to go. */
struct forward {
	const struct candidate *candidates;
	size_t count;
	uint64_t entry; /* file offset of the operator */
	struct elf_file *file;
};

static bool forward_is_wanted(void *context, int64_t target)
{
	const struct forward *forward = context;
	uint64_t offset = forward->entry + (uint64_t)target;
	char name[ELF_PLT_NAME_MAX];
	size_t i;

	if (target == 0)
		return false;
	for (i = 0; i < forward->count; i++)
		if (forward->candidates[i].function->file_offset == offset)
			return true;
	return elf_plt_name(forward->file, offset, name) && allocator_has_function(name);
}

/* Leave out the operators that call malloc, free or each other: the block is seen there. */
static void plan_drop_operators(struct plan *plan, uint32_t module, struct elf_file *file,
				struct candidate *candidates, size_t count)
{
	struct forward forward = { .candidates = candidates, .count = count, .file = file };
	size_t i, dropped = 0;

	for (i = 0; i < count; i++) {
		struct candidate *candidate = &candidates[i];

		forward.entry = candidate->function->file_offset;
		if (candidate->dropped || !plan_may_forward(plan, candidate->function->row) ||
		    !calls_any(candidate->code, candidate->code_size, forward_is_wanted, &forward))
			continue;
		candidate->dropped = true;
		dropped++;
	}
	if (dropped)
		plan_skip(plan, module, false,
			  "%zu %s call malloc, free or each other, which are probed "
			  "where they are defined",
			  dropped, plan->has_samplers ? "functions" : "C++ operators");
}

/* A free without further flags in the table. */
static bool shape_is_plain_free(uint64_t shape)
{
	return SHAPE_OP(shape) == CALL_FREE && SHAPE_RESULT(shape) == RESULT_POINTER;
}

/* Resizes blocks that have their sizes before them. */
static bool shape_resizes_chunks(uint64_t shape)
{
	return SHAPE_OP(shape) == CALL_REALLOC && SHAPE_RESULT(shape) == RESULT_POINTER;
}

static bool plan_add_probe(struct plan *plan, uint32_t module, const struct scan *scan,
			   const struct candidate *candidate)
{
	const char *allocator = scan->allocator;
	const struct scan_function *function = candidate->function;
	const struct choice *choice = &candidate->choice;
	bool named = candidate->name->shape & SHAPE_NAMED;
	uint64_t shape = function->row->shape;
	uint32_t id = plan_function(plan, named ? "named" : allocator, candidate->name->name);
	struct plan_probe *probe;

	if (id == 0) {
		plan_skip(plan, module, true, "%s: too many functions", function->row->symbol);
		return false;
	}
	if (candidate->comes_back ||
	    (shape_is_plain_free(shape) && !named && !allocator_is_known(allocator)))
		shape = SHAPE_THAT_FREES_INSIDE(shape);
	if (scan->chunks && !named && shape_resizes_chunks(shape))
		shape = SHAPE_OF_CHUNKS(shape);
	if (candidate->reading == READ_AT_EXITS)
		shape |= SHAPE_BY_EXITS;
	plan->probes =
		memory_grow(plan->probes, plan->count, &plan->capacity, sizeof(*plan->probes));
	probe = &plan->probes[plan->count++];
	*probe = (struct plan_probe){
		.module = module,
		.function = id,
		.symbol = function->row->symbol,
		.shape = SHAPE_WITH_FUNCTION(shape, id),
		.entry_offset = function->file_offset,
		.site_offset = function->file_offset + choice->offset,
		.size = function->size,
		.fixed_size = function->row->fixed_size,
		.stack_bytes = choice->stack_bytes,
		.cost = choice->cost,
	};
	memcpy(probe->instruction, choice->instruction, sizeof(probe->instruction));
	memcpy(probe->reason, choice->reason, sizeof(probe->reason));
	memcpy(probe->aliases, function->aliases, sizeof(probe->aliases));
	return true;
}

/* Decide about a candidate that can be probed at all. */
static bool plan_add_candidate(struct plan *plan, uint32_t module, struct elf_file *file,
			       const struct scan *scan, struct candidate *candidate)
{
	const struct scan_function *function = candidate->function;

	if (candidate->dropped)
		return false;
	if (candidate->choice.offset &&
	    plan_has_site(plan, module, function->file_offset + candidate->choice.offset))
		candidate_fall_back(candidate, "another probe stands at a cheaper one");
	if (plan_has_site(plan, module, function->file_offset + candidate->choice.offset)) {
		plan_skip(plan, module, true, "%s begins where another probe stands",
			  function->row->symbol);
		return false;
	}
	candidate->reading = plan_add_exits(plan, module, file, function, candidate->walker);
	if (candidate->reading == READ_NOWHERE)
		return false;
	return plan_add_probe(plan, module, scan, candidate);
}

static bool plan_accepts(struct plan *plan, uint32_t module, const struct candidate *candidate)
{
	const struct scan_function *function = candidate->function;

	if (function->indirect) {
		plan_skip(plan, module, true,
			  "%s is an indirect function: what it resolves to is not known",
			  function->row->symbol);
		return false;
	}
	if (candidate->code_size == 0) {
		plan_skip(plan, module, true, "%s has no code in the file", function->row->symbol);
		return false;
	}
	return true;
}

static void plan_add_scan(struct plan *plan, uint32_t module, struct elf_file *file,
			  const struct scan *scan)
{
	struct candidate *candidates = memory_alloc(scan->count, sizeof(*candidates));
	size_t i;

	for (i = 0; i < scan->count; i++) {
		candidates[i].function = &scan->items[i];
		candidates[i].name = scan->items[i].row;
		candidates[i].walker = scan->walker;
		candidate_choose(&candidates[i], file, &plan->options);
		candidates[i].dropped = !plan_accepts(plan, module, &candidates[i]);
	}
	candidates_check_landings(candidates, scan->count, file);
	if (allocator_operators_forward(scan->allocator, scan->own_heap))
		plan_drop_operators(plan, module, file, candidates, scan->count);
	plan_drop_stubs(plan, module, candidates, scan->count);
	for (i = 0; i < scan->count; i++)
		plan_add_candidate(plan, module, file, scan, &candidates[i]);
	if (plan->options.inside && !plan_is_inside(plan) && !strcmp(scan->allocator, "glibc"))
		plan_add_inside(plan, module, file);
	for (i = 0; i < scan->count; i++)
		free(candidates[i].code);
	free(candidates);
}

/* Is a function to be probed in a file that publishes samples, or does not? */
static bool plan_wants(const struct plan *plan, const struct allocator_function *row, bool samples)
{
	bool known = !(row->shape & SHAPE_NAMED);

	if (plan->options.light && SHAPE_OP(row->shape) == CALL_FREE)
		return false;
	if (SHAPE_OP(row->shape) == CALL_PROCESS_END)
		return true;
	if (SHAPE_OP(row->shape) == CALL_THROW)
		return plan->options.usdt != USDT_ONLY ||
		       (plan->options.named && plan->options.named->count);
	if (plan->options.usdt == USDT_ONLY)
		return !known;
	return !(samples && known && SHAPE_SOURCE(row->shape) == SOURCE_HEAP);
}

static void plan_keep_wanted(struct plan *plan, uint32_t module, struct scan *scan, bool samples)
{
	size_t i, kept = 0;

	for (i = 0; i < scan->count; i++)
		if (plan_wants(plan, scan->items[i].row, samples))
			scan->items[kept++] = scan->items[i];
	if (samples && kept < scan->count)
		plan_skip(plan, module, false,
			  "%zu function%s not probed: the program publishes samples instead",
			  scan->count - kept, units_s(scan->count - kept));
	scan->count = kept;
}

/*
 * What a file calls that has such functions, the dynamic loader's among them, it calls as an allocator. Of a named function it
 * is not known what it is a part of.
 */
static bool plan_has_allocator(const struct scan *scan)
{
	uint64_t shape;
	size_t i;

	for (i = 0; i < scan->count; i++) {
		shape = scan->items[i].row->shape;
		if (!(shape & SHAPE_NAMED) && SHAPE_OP(shape) <= CALL_FREE)
			return true;
	}
	return false;
}

size_t plan_add_file(struct plan *plan, uint32_t module, struct elf_file *file)
{
	const struct allocator_function **rows;
	size_t before = plan->count, count = plan_named_rows(plan, module, file, &rows);
	bool samples = false;
	struct scan scan;

	count = plan_end_rows(plan, &rows, count);
	scan_file(file, rows, count, &scan);
	plan->allocates |= plan_has_allocator(&scan);
	plan_see_named(plan, &scan);
	if (plan->options.usdt != USDT_OFF)
		samples = plan_add_samples(plan, module, file, scan.allocator);
	plan_keep_wanted(plan, module, &scan, samples);
	if (scan.count && allocator_is_loader(scan.allocator))
		plan_skip(plan, module, false,
			  "the dynamic loader's allocator serves the loader only");
	else if (scan.count)
		plan_add_scan(plan, module, file, &scan);
	scan_free(&scan);
	free(rows);
	return plan->count - before;
}

void plan_add_unreadable(struct plan *plan, uint32_t module)
{
	plan_skip(plan, module, true,
		  "cannot be read, so an allocator in it is not seen; a file that was deleted or "
		  "replaced can be read with CAP_DAC_READ_SEARCH and CAP_CHECKPOINT_RESTORE");
}
