/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See kernel_stack.h. Names differ by release and compiler: they are known by how they begin. */
#include "follow/kernel_stack.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "model/module.h"

#define NAME_MAX_BYTES 640

/* Frames of the tracing are among so many innermost ones. */
#define TRACING_MAX 16

/* Tracepoints call BPF programs through these, of which the outermost one counts. */
static const char *const tracing_names[] = {
	"__traceiter_", "__bpf_trace_", "bpf_trace_run", "__do_trace_", "do_trace_",
	"bpf_prog_",	"perf_trace_",	"trace_event_",	 NULL,
};

/* Allocators of blocks, which take pages for them; in the order of the calls. */
static const char *const block_names[] = {
	"kmalloc",
	"__kmalloc",
	"___kmalloc",
	"__do_kmalloc",
	"kmem_cache_alloc",
	"__kmem_cache_alloc",
	"slab_alloc",
	"__slab_alloc",
	"___slab_alloc",
	"alloc_slab_page",
	"alloc_single_from_new_slab",
	"allocate_slab",
	"new_slab",
	"refill_objects",
	"refill_sheaf",
	"alloc_from_pcs",
	"__pcs_replace_empty_main",
	"cache_grow",
	"cache_alloc_refill",
	"kmem_getpages",
	"pcpu_",
	NULL,
};

/* And others that callers use to allocate. */
static const char *const other_names[] = {
	"alloc_pages",
	"__alloc_pages",
	"__alloc_frozen_pages",
	"alloc_frozen_pages",
	"get_free_pages",
	"__get_free_pages",
	"get_zeroed_page",
	"alloc_page",
	"__folio_alloc",
	"folio_alloc",
	"__alloc_percpu",
	"krealloc",
	"__krealloc",
	"__do_krealloc",
	"kvmalloc",
	"__kvmalloc",
	"kvrealloc",
	"kmemdup",
	"kstrdup",
	"kstrndup",
	"memdup_user",
	"vmemdup_user",
	"vmalloc",
	"__vmalloc",
	"vzalloc",
	"vm_area_alloc_pages",
	NULL,
};

static bool kernel_stack_begins(const struct frame *frame, const char *const *names)
{
	const char *function = frame->name ? frame->name->function : NULL;

	for (; function && *names; names++)
		if (!strncmp(function, *names, strlen(*names)))
			return true;
	return false;
}

static struct frame kernel_stack_frame(uint64_t address, const struct kallsyms *symbols,
				       struct name_pool *pool)
{
	struct frame frame = { .kind = FRAME_KERNEL, .module = MODULE_NONE, .address = address };
	struct kallsyms_place place;
	char text[NAME_MAX_BYTES];

	/* A return address may be the first byte of the next function: the call lies before it. */
	if (!kallsyms_find(symbols, address - 1, &place)) {
		snprintf(text, sizeof(text), "0x%" PRIx64, address);
	} else {
		frame.offset = place.offset + 1;
		snprintf(text, sizeof(text), "%s%s%s%s", place.function, place.module ? " [" : "",
			 place.module ? place.module : "", place.module ? "]" : "");
	}
	frame.name = name_pool_keep(pool, &(struct frame_name){ .function = text });
	return frame;
}

/* How many innermost frames are of the tracing. */
static uint32_t kernel_stack_tracing(const struct frame *frames, uint32_t count)
{
	uint32_t i, tracing = 0;

	for (i = 0; i < count && i < TRACING_MAX; i++)
		if (kernel_stack_begins(&frames[i], tracing_names))
			tracing = i + 1;
	return tracing;
}

/* If the allocator is all that is left, it is what is shown. */
static void kernel_stack_mark(struct stack *stack)
{
	uint32_t i, inner = 0;

	while (inner < stack->count && (kernel_stack_begins(&stack->frames[inner], block_names) ||
					kernel_stack_begins(&stack->frames[inner], other_names)))
		inner++;
	for (i = 0; i < inner && inner < stack->count; i++)
		stack->frames[i].internal = true;
}

struct stack *kernel_stack_make(const struct stack_record *record, const struct kallsyms *symbols,
				struct name_pool *pool)
{
	uint32_t count = record->count < STACK_FRAMES_MAX ? record->count : STACK_FRAMES_MAX;
	struct stack *stack = memory_alloc(1, sizeof(*stack) + count * sizeof(stack->frames[0]));
	uint32_t i, tracing;

	for (i = 0; i < count; i++)
		stack->frames[i] = kernel_stack_frame(record->pcs[i], symbols, pool);
	tracing = kernel_stack_tracing(stack->frames, count);
	stack->count = count - tracing;
	memmove(stack->frames, stack->frames + tracing, stack->count * sizeof(stack->frames[0]));
	kernel_stack_mark(stack);
	return stack;
}

bool kernel_stack_is_for_blocks(const struct stack *stack)
{
	uint32_t i;

	for (i = 0; i < stack->count; i++) {
		if (kernel_stack_begins(&stack->frames[i], block_names))
			return true;
		if (!kernel_stack_begins(&stack->frames[i], other_names))
			return false;
	}
	return false;
}

struct stack *kernel_stack_missing(void)
{
	struct stack *stack = memory_alloc(1, sizeof(*stack) + sizeof(stack->frames[0]));

	stack->count = 1;
	stack->frames[0] = (struct frame){ .kind = FRAME_ERROR,
					   .module = MODULE_NONE,
					   .reason = "stack table full" };
	return stack;
}
