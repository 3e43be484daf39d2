/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See sites.h. */
#include "follow/sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "unwind_abi.h"

/* Bits of user addresses: there is no mapping beyond. A stack may end in any word. */
#if defined(__aarch64__)
#define ADDRESS_BITS 48
#else
#define ADDRESS_BITS 47
#endif

/* `end` is an enum unwind_end, with UNWIND_END_GUESSED or without. */
static const char *stack_end_reason(uint32_t end)
{
	switch (end & ~(uint32_t)UNWIND_END_GUESSED) {
	case UNWIND_END_DEPTH:
		return "stack deeper than --stack-depth";
	case UNWIND_END_UNREADABLE:
		return "stack memory could not be read";
	case UNWIND_END_NO_MAPPING:
		return "code that was mapped just before";
	case UNWIND_END_ANONYMOUS:
		return "code generated at run time";
	case UNWIND_END_NO_ROWS:
		return "code without unwind tables";
	case UNWIND_END_NO_TABLE:
		return "no unwind tables: guessed by frame pointers";
	case UNWIND_END_ROOT:
		return end & UNWIND_END_GUESSED ? "guessed behind code without unwind tables"
						: NULL;
	default:
		return "unwind tables that could not be followed";
	}
}

static struct stack *stack_of_reason(const char *reason)
{
	struct stack *stack = memory_alloc(1, sizeof(*stack) + sizeof(stack->frames[0]));

	stack->count = 1;
	stack->frames[0] =
		(struct frame){ .kind = FRAME_ERROR, .module = MODULE_NONE, .reason = reason };
	return stack;
}

/* The captured addresses as frames that are yet to be resolved. */
static struct stack *stack_of_record(const struct stack_record *record)
{
	uint32_t count = record->count < STACK_FRAMES_MAX ? record->count : STACK_FRAMES_MAX;
	const char *reason = stack_end_reason(record->end);
	struct stack *stack =
		memory_alloc(1, sizeof(*stack) + (count + 1) * sizeof(stack->frames[0]));
	uint32_t i;

	stack->count = count;
	for (i = 0; i < count; i++)
		stack->frames[i] = (struct frame){ .kind = FRAME_NATIVE,
						   .module = MODULE_NONE,
						   .address = record->pcs[i] };
	if (reason)
		stack->frames[stack->count++] = (struct frame){ .kind = FRAME_ERROR,
								.module = MODULE_NONE,
								.reason = reason };
	return stack;
}

/*
 * A return address may be the first byte of the next mapping: the call lies before it. False if a mapping may be missing.
 */
static bool frame_resolve(struct frame *frame, const struct known_site *site)
{
	enum address_kind kind = address_space_resolve(site->process->space, frame->address - 1,
						       site->record.first_ns, &frame->module,
						       &frame->offset);

	if (kind == ADDRESS_FILE)
		frame->offset++;
	else if (kind == ADDRESS_ANONYMOUS)
		frame->kind = FRAME_JIT;
	return kind != ADDRESS_UNKNOWN || frame->address >> ADDRESS_BITS;
}

bool sites_resolve(struct known_site *site)
{
	struct stack *stack = site->stack;
	bool missing = false;
	uint32_t i;

	for (i = 0; i < stack->count; i++)
		if (stack->frames[i].kind != FRAME_ERROR && !frame_resolve(&stack->frames[i], site))
			missing = true;
	return missing;
}

void sites_drop_inner(struct known_site *site,
		      bool (*is_inside)(const void *context, uint32_t module, uint64_t offset),
		      const void *context)
{
	struct stack *stack = site->stack;
	uint32_t i, drop = 0;

	for (i = 0; i < stack->count; i++) {
		const struct frame *frame = &stack->frames[i];

		if (frame->kind != FRAME_NATIVE || frame->module == MODULE_NONE ||
		    frame->module != stack->frames[0].module)
			break;
		if (is_inside(context, frame->module, frame->offset - 1))
			drop = i + 1;
	}
	stack->count -= drop;
	memmove(stack->frames, stack->frames + drop, stack->count * sizeof(stack->frames[0]));
}

void sites_add_thread(struct known_site *site, const struct frame_name *name)
{
	uint32_t count = site->stack->count;
	struct stack *stack =
		memory_alloc(1, sizeof(*stack) + (count + 1) * sizeof(stack->frames[0]));

	memcpy(stack->frames, site->stack->frames, count * sizeof(stack->frames[0]));
	stack->frames[count] =
		(struct frame){ .kind = FRAME_THREAD, .module = MODULE_NONE, .name = name };
	stack->count = count + 1;
	stack_free(site->stack);
	site->stack = stack;
}

struct known_site *sites_get(struct sites *sites, uint64_t key)
{
	struct known_site *site;

	if (sites->last && sites->last->key == key)
		return sites->last;
	site = table_get(&sites->by_key, key);
	if (site)
		sites->last = site;
	return site;
}

void sites_set(struct known_site *site, const struct site *record)
{
	site->record = *record;
	site->stats.alloc_bytes = record->alloc_bytes;
	site->stats.alloc_objects = record->alloc_objects;
	site->stats.free_bytes = record->free_bytes;
	site->stats.free_objects = record->free_objects;
	site->stats.samples = record->samples;
	site->stats.lives = lifespans_of(record);
}

void sites_reset_ages(struct known_site *site)
{
	site->stats = (struct site_stats){ 0 };
	site->held_bytes = site->held_objects = 0;
	generations_clear(&site->births);
	sites_set(site, &site->record);
}

bool sites_add(struct sites *sites, uint64_t key, const struct site *record,
	       struct process *process, const struct stack_record *stack)
{
	struct known_site *site = sites_get(sites, key);

	if (site) {
		sites_set(site, record);
		return false;
	}
	site = memory_alloc(1, sizeof(*site));
	site->key = key;
	site->process = process;
	sites_set(site, record);
	site->stack = stack ? stack_of_record(stack) : stack_of_reason("stack table full");
	table_put(&sites->by_key, key, site);
	return sites_resolve(site);
}

static void known_site_free(struct known_site *site)
{
	if (!site)
		return;
	stack_free(site->stack);
	generations_free(&site->births);
	free(site);
}

void sites_remove(struct sites *sites, uint64_t key)
{
	sites->last = NULL;
	known_site_free(table_remove(&sites->by_key, key));
}

void sites_free(struct sites *sites)
{
	const struct table_slot *slot;
	size_t cursor = 0;

	while ((slot = table_next(&sites->by_key, &cursor)))
		known_site_free(slot->value);
	table_free(&sites->by_key);
	sites->last = NULL;
}
