/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns the addresses of a kernel stack into named frames, without those of the tracing itself.
 * Pure.
 */
#ifndef FOLLOW_KERNEL_STACK_H
#define FOLLOW_KERNEL_STACK_H

#include <linux/types.h>
#include <stdbool.h>

#include "model/name_pool.h"
#include "model/stack.h"
#include "system/kallsyms.h"
#include "tracer_abi.h"

/*
 * The frames of a record. Drops the innermost ones, which belong to the tracepoint; the
 * allocator's, which follow them, are marked internal. Names are kept in `pool`: "name [module]"
 * for a module's function, "0xffffffffc0123456" for an address without one. Free with stack_free.
 */
struct stack *kernel_stack_make(const struct stack_record *record, const struct kallsyms *symbols,
				struct name_pool *pool);

/* Does this stack allocate pages for the slab allocator, whose blocks are counted themselves? */
bool kernel_stack_is_for_blocks(const struct stack *stack);

/* A stack of a single error frame: its addresses are missing. */
struct stack *kernel_stack_missing(void);

#endif
